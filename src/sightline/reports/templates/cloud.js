"use strict";
// Depth maps in a browser: read the numbers of `report/payload.py`, say the value at a place, show the points.
// Reports carry this file inside, the page of `sightline serve` loads it; both find it as `sightline`.
(() => {
  // Base64 of little-endian uint16 to a typed array.
  function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Uint16Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i, true));
  }

  const decode = (code, low, high) => low + ((code - 1) / 65534) * (high - low);

  // The grid as it comes, with its numbers unpacked.
  const readGrid = (grid) => ({ ...grid, values: unpack(grid.values), inverse: unpack(grid.inverse) });

  // Value at a place of the picture (shares of its width and height, 0 to 1); null where there is none.
  function valueAt(grid, x, y) {
    const column = Math.floor(x * grid.width), row = Math.floor(y * grid.height);
    if (column < 0 || row < 0 || column >= grid.width || row >= grid.height) return null;
    const code = grid.values[row * grid.width + column];
    return code === 0 ? null : decode(code, grid.low, grid.high);
  }

  // A value as people read it, with its unit.
  function words(grid, value) {
    if (value === null) return "no value here";
    const digits = value === 0 ? "0" : Number(value.toPrecision(4)).toString();
    return grid.relative ? digits + " (relative, no unit)" : digits + " " + grid.unit;
  }

  // ---------------------------------------------------------------- points
  // Camera frame of the file: x right, y down, z forward. Colors come from the picture beside it.
  function makePoints(grid, image) {
    const paper = document.createElement("canvas");
    paper.width = grid.width;
    paper.height = grid.height;
    const context = paper.getContext("2d", { willReadFrequently: true });
    context.drawImage(image, 0, 0, grid.width, grid.height);
    const pixels = context.getImageData(0, 0, grid.width, grid.height).data;
    const xyz = [];
    const rgb = [];
    const depths = [];
    for (let i = 0; i < grid.inverse.length; i++) {
      if (grid.inverse[i] === 0) continue;
      const z = 1 / decode(grid.inverse[i], grid.inverseLow, grid.inverseHigh);
      const x = ((i % grid.width) - grid.center[0]) / grid.focal[0];
      const y = (Math.floor(i / grid.width) - grid.center[1]) / grid.focal[1];
      xyz.push(x * z, y * z, z);
      rgb.push(pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]);
      depths.push(z);
    }
    depths.sort((a, b) => a - b);
    const pivot = depths.length ? depths[Math.floor(depths.length * 0.4)] : 1;
    return {
      xyz: new Float32Array(xyz),
      rgb: new Uint8Array(rgb),
      count: depths.length,
      pivot,
      near: pivot * 0.02,
      far: (depths.length ? depths[depths.length - 1] : 1) * 4 + pivot * 8,
      // Half the picture's height over the focal length, and the size of one cell at distance 1.
      slope: grid.height / 2 / grid.focal[1],
      cell: 1 / grid.focal[0],
    };
  }

  // Turns about the pivot on the optical axis; `zoom` 1 is where the photographer stood.
  function pose(view, points) {
    const cy = Math.cos(view.yaw), sy = Math.sin(view.yaw);
    const cp = Math.cos(view.pitch), sp = Math.sin(view.pitch);
    return { rows: [cy, 0, sy, sp * sy, cp, -sp * cy, -cp * sy, sp, cp * cy], back: points.pivot / view.zoom };
  }

  // ---------------------------------------------------------------- WebGL
  const VERTEX = `
    attribute vec3 place; attribute vec3 color; varying vec3 tint;
    uniform mat3 turn; uniform vec2 shift; uniform float pivot, back, slope, aspect, near, far, size;
    void main() {
      vec3 p = turn * (place - vec3(0.0, 0.0, pivot)) + vec3(0.0, 0.0, back);
      float depth = (p.z * (far + near) - 2.0 * far * near) / (far - near);
      gl_Position = vec4(p.x / (slope * aspect) - shift.x * p.z, shift.y * p.z - p.y / slope, depth, p.z);
      gl_PointSize = clamp(size * place.z / max(p.z, near), 1.0, 40.0);
      tint = color;
    }`;
  const FRAGMENT = "precision mediump float; varying vec3 tint; void main() { gl_FragColor = vec4(tint, 1.0); }";

  // Browsers allow few WebGL contexts per page, so all clouds are drawn in one hidden canvas and
  // copied to their own.
  let studio;

  function openStudio() {
    const canvas = document.createElement("canvas");
    const gl = canvas.getContext("webgl", { antialias: true });
    if (!gl) return null;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
    gl.useProgram(program);
    gl.enable(gl.DEPTH_TEST);
    return { canvas, gl, program };
  }

  function glRenderer(canvas, points) {
    if (studio === undefined) studio = openStudio();
    if (!studio) return null;
    const { gl, program } = studio;
    const fill = (data) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
      return buffer;
    };
    const feed = (name, buffer, type, normalized) => {
      const place = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, type, normalized, 0, 0);
    };
    const set = (name, value) => gl.uniform1f(gl.getUniformLocation(program, name), value);
    const places = fill(points.xyz);
    const colors = fill(points.rgb);
    const paper = canvas.getContext("2d");
    return {
      name: "WebGL",
      close() {
        for (const buffer of [places, colors]) gl.deleteBuffer(buffer);
      },
      draw(view) {
        const at = pose(view, points);
        const r = at.rows;
        studio.canvas.width = canvas.width;
        studio.canvas.height = canvas.height;
        gl.viewport(0, 0, canvas.width, canvas.height);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        feed("place", places, gl.FLOAT, false);
        feed("color", colors, gl.UNSIGNED_BYTE, true);
        gl.uniformMatrix3fv(gl.getUniformLocation(program, "turn"), false,
          [r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]]);
        gl.uniform2f(gl.getUniformLocation(program, "shift"), view.x, view.y);
        set("pivot", points.pivot);
        set("back", at.back);
        set("slope", points.slope);
        set("aspect", canvas.width / canvas.height);
        set("near", points.near);
        set("far", points.far + at.back);
        set("size", 1.25 * (points.cell / points.slope) * canvas.height / 2);
        gl.drawArrays(gl.POINTS, 0, points.count);
        paper.clearRect(0, 0, canvas.width, canvas.height);
        paper.drawImage(studio.canvas, 0, 0);
      },
    };
  }

  // ---------------------------------------------------------------- without WebGL: a depth buffer by hand
  function plainRenderer(canvas, points) {
    const context = canvas.getContext("2d");
    return {
      name: "canvas",
      close() {},
      draw(view) {
        const { rows: r, back } = pose(view, points);
        const width = canvas.width, height = canvas.height;
        const image = context.createImageData(width, height);
        const buffer = new Float32Array(width * height).fill(Infinity);
        const scale = height / 2 / points.slope;
        for (let i = 0; i < points.count; i++) {
          const x = points.xyz[3 * i], y = points.xyz[3 * i + 1], zz = points.xyz[3 * i + 2];
          const z = zz - points.pivot;
          const pz = r[6] * x + r[7] * y + r[8] * z + back;
          if (pz < points.near) continue;
          const px = (width / 2) * (1 - view.x) + (scale * (r[0] * x + r[1] * y + r[2] * z)) / pz;
          const py = (height / 2) * (1 - view.y) + (scale * (r[3] * x + r[4] * y + r[5] * z)) / pz;
          const half = Math.max(0.5, Math.min(20, (0.62 * points.cell * scale * zz) / pz));
          const x0 = Math.max(0, Math.round(px - half)), x1 = Math.min(width, Math.round(px + half));
          const y0 = Math.max(0, Math.round(py - half)), y1 = Math.min(height, Math.round(py + half));
          for (let v = y0; v < y1; v++) {
            for (let u = x0; u < x1; u++) {
              const k = v * width + u;
              if (pz >= buffer[k]) continue;
              buffer[k] = pz;
              image.data[4 * k] = points.rgb[3 * i];
              image.data[4 * k + 1] = points.rgb[3 * i + 1];
              image.data[4 * k + 2] = points.rgb[3 * i + 2];
              image.data[4 * k + 3] = 255;
            }
          }
        }
        context.putImageData(image, 0, 0);
      },
    };
  }

  // ---------------------------------------------------------------- the canvas and its controls
  const TURNED = { yaw: 0.2, pitch: -0.1 };
  const FRONT = { yaw: 0, pitch: 0, zoom: 1, x: 0, y: 0 };

  // A first view from the side, from as near as shows (almost) every point, with them in the middle:
  // `x` and `y` are what is moved there, in halves of the canvas.
  function startView(points, aspect) {
    const step = Math.max(1, Math.floor(points.count / 4000));
    const ends = (values) => {
      values.sort((a, b) => a - b);
      const at = (share) => values[Math.min(values.length - 1, Math.floor(share * values.length))] || 0;
      return [at(0.01), at(0.99)];
    };
    let view = { ...TURNED, zoom: 1.3, x: 0, y: 0 };
    for (; view.zoom > 0.15; view.zoom *= 0.94) {
      const { rows, back } = pose(view, points);
      const across = [], down = [];
      for (let i = 0; i < points.count; i += step) {
        const x = points.xyz[3 * i], y = points.xyz[3 * i + 1], z = points.xyz[3 * i + 2] - points.pivot;
        const reach = Math.max(points.near, rows[6] * x + rows[7] * y + rows[8] * z + back) * points.slope;
        across.push((rows[0] * x + rows[1] * y + rows[2] * z) / reach / aspect);
        down.push((rows[3] * x + rows[4] * y + rows[5] * z) / reach);
      }
      const [left, right] = ends(across), [top, bottom] = ends(down);
      view.x = (left + right) / 2;
      view.y = (top + bottom) / 2;
      if (right - left < 1.92 && bottom - top < 1.92) break;
    }
    return view;
  }

  // Show the points of a grid, colored by a picture, on a canvas that can be turned.
  // `ready` is called once with the number of points. Returns what can be done to it from outside.
  function showCloud(canvas, grid, image, ready) {
    const ending = new AbortController();
    const listen = (name, act, options) =>
      canvas.addEventListener(name, act, { ...options, signal: ending.signal });
    canvas.style.aspectRatio = grid.width + " / " + grid.height;
    const points = makePoints(grid, image);
    const view = startView(points, grid.width / grid.height);
    let renderer = null;
    let queued = false;

    const redraw = () => {
      if (queued || !renderer) return;
      queued = true;
      requestAnimationFrame(() => { queued = false; if (renderer) renderer.draw(view); });
    };
    const turn = (yaw, pitch, zoom) => {
      view.yaw = Math.max(-3.14, Math.min(3.14, view.yaw + yaw));
      view.pitch = Math.max(-1.5, Math.min(1.5, view.pitch + pitch));
      view.zoom = Math.max(0.1, Math.min(12, view.zoom * zoom));
      redraw();
    };
    const fit = () => {
      const ratio = Math.min(2, window.devicePixelRatio || 1);
      canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
      canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
      if (renderer) renderer.draw(view);
    };

    // Long pages: a cloud is first drawn when it comes into sight.
    const watch = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      renderer = glRenderer(canvas, points) || plainRenderer(canvas, points);
      canvas.dataset.renderer = renderer.name;
      fit();
      ready(points.count);
    }, { rootMargin: "200px" });
    watch.observe(canvas);
    const size = new ResizeObserver(fit);
    size.observe(canvas);

    const fingers = new Map();
    listen("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    listen("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (!before) return;
      const now = [event.clientX, event.clientY];
      if (fingers.size === 1) {
        turn((now[0] - before[0]) * -0.006, (now[1] - before[1]) * 0.006, 1);
      } else {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        turn(0, 0, gap(now) / gap(before));
      }
      fingers.set(event.pointerId, now);
    });
    for (const name of ["pointerup", "pointercancel"]) {
      listen(name, (event) => fingers.delete(event.pointerId));
    }
    listen("wheel", (event) => {
      event.preventDefault();
      turn(0, 0, Math.exp(-event.deltaY * 0.0012));
    }, { passive: false });
    const keys = {
      ArrowLeft: [0.1, 0, 1], ArrowRight: [-0.1, 0, 1], ArrowUp: [0, -0.1, 1], ArrowDown: [0, 0.1, 1],
      "+": [0, 0, 1.15], "=": [0, 0, 1.15], "-": [0, 0, 1 / 1.15],
    };
    listen("keydown", (event) => {
      if (event.key === "0") Object.assign(view, FRONT);
      else if (!keys[event.key]) return;
      event.preventDefault();
      turn(...(keys[event.key] || [0, 0, 1]));
    });
    return {
      view,
      front() {
        Object.assign(view, FRONT);
        redraw();
      },
      close() {
        ending.abort();
        watch.disconnect();
        size.disconnect();
        if (renderer) renderer.close();
        renderer = null;
        delete canvas.dataset.renderer;
      },
    };
  }

  globalThis.sightline = { readGrid, valueAt, words, showCloud };
})();
