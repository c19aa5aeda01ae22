"use strict";
(() => {
  // Base64 of little-endian uint16 to a typed array.
  function unpack(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    return Uint16Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i, true));
  }

  const decode = (code, low, high) => low + ((code - 1) / 65534) * (high - low);

  // ---------------------------------------------------------------- slider and value under the pointer
  function setUpCompare(root, grid) {
    const stage = root.querySelector(".compare");
    const cut = root.querySelector(".cut");
    const output = root.querySelector(".value");
    if (cut) cut.addEventListener("input", () => stage.style.setProperty("--cut", cut.value + "%"));
    stage.addEventListener("pointermove", (event) => {
      const box = stage.getBoundingClientRect();
      const x = Math.floor(((event.clientX - box.left) / box.width) * grid.width);
      const y = Math.floor(((event.clientY - box.top) / box.height) * grid.height);
      if (x < 0 || y < 0 || x >= grid.width || y >= grid.height) return;
      const code = grid.values[y * grid.width + x];
      if (code === 0) {
        output.textContent = "no value here";
        return;
      }
      const value = decode(code, grid.low, grid.high);
      const digits = value === 0 ? "0" : Number(value.toPrecision(4)).toString();
      output.textContent = grid.relative ? digits + " (relative, no unit)" : digits + " " + grid.unit;
    });
    stage.addEventListener("pointerleave", () => { output.textContent = "\u00a0"; });
  }

  // ---------------------------------------------------------------- points
  // Camera frame of the file: x right, y down, z forward. Colours come from the picture beside it.
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
      const x = ((i % grid.width) - grid.centre[0]) / grid.focal[0];
      const y = (Math.floor(i / grid.width) - grid.centre[1]) / grid.focal[1];
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
    attribute vec3 place; attribute vec3 colour; varying vec3 tint;
    uniform mat3 turn; uniform float pivot, back, slope, aspect, near, far, size;
    void main() {
      vec3 p = turn * (place - vec3(0.0, 0.0, pivot)) + vec3(0.0, 0.0, back);
      float depth = (p.z * (far + near) - 2.0 * far * near) / (far - near);
      gl_Position = vec4(p.x / (slope * aspect), -p.y / slope, depth, p.z);
      gl_PointSize = clamp(size * place.z / max(p.z, near), 1.0, 40.0);
      tint = colour;
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
    const feed = (name, buffer, type, normalised) => {
      const place = gl.getAttribLocation(program, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, type, normalised, 0, 0);
    };
    const set = (name, value) => gl.uniform1f(gl.getUniformLocation(program, name), value);
    const places = fill(points.xyz);
    const colours = fill(points.rgb);
    const paper = canvas.getContext("2d");
    return {
      name: "WebGL",
      draw(view) {
        const at = pose(view, points);
        const r = at.rows;
        studio.canvas.width = canvas.width;
        studio.canvas.height = canvas.height;
        gl.viewport(0, 0, canvas.width, canvas.height);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        feed("place", places, gl.FLOAT, false);
        feed("colour", colours, gl.UNSIGNED_BYTE, true);
        gl.uniformMatrix3fv(gl.getUniformLocation(program, "turn"), false,
          [r[0], r[3], r[6], r[1], r[4], r[7], r[2], r[5], r[8]]);
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
          const px = width / 2 + (scale * (r[0] * x + r[1] * y + r[2] * z)) / pz;
          const py = height / 2 + (scale * (r[3] * x + r[4] * y + r[5] * z)) / pz;
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

  // A first view from the side, from as near as shows (almost) every point.
  function startView(points, aspect) {
    const step = Math.max(1, Math.floor(points.count / 4000));
    for (let zoom = 0.95; zoom > 0.15; zoom *= 0.94) {
      const view = { ...TURNED, zoom };
      const { rows, back } = pose(view, points);
      let outside = 0, seen = 0;
      for (let i = 0; i < points.count; i += step, seen++) {
        const x = points.xyz[3 * i], y = points.xyz[3 * i + 1], z = points.xyz[3 * i + 2] - points.pivot;
        const px = rows[0] * x + rows[1] * y + rows[2] * z;
        const py = rows[3] * x + rows[4] * y + rows[5] * z;
        const reach = (rows[6] * x + rows[7] * y + rows[8] * z + back) * points.slope;
        if (Math.abs(px) > reach * aspect || Math.abs(py) > reach) outside++;
      }
      if (outside <= 0.005 * seen) return view;
    }
    return { ...TURNED, zoom: 0.15 };
  }

  function setUpCloud(root, grid, image) {
    const canvas = root.querySelector(".cloud");
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
      root.querySelector(".renderer").textContent = points.count.toLocaleString("en") + " points";
      canvas.dataset.renderer = renderer.name;
      fit();
    }, { rootMargin: "200px" });
    watch.observe(canvas);
    new ResizeObserver(fit).observe(canvas);

    const fingers = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
    });
    canvas.addEventListener("pointermove", (event) => {
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
      canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
    }
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      turn(0, 0, Math.exp(-event.deltaY * 0.0012));
    }, { passive: false });
    const keys = {
      ArrowLeft: [0.1, 0, 1], ArrowRight: [-0.1, 0, 1], ArrowUp: [0, -0.1, 1], ArrowDown: [0, 0.1, 1],
      "+": [0, 0, 1.15], "=": [0, 0, 1.15], "-": [0, 0, 1 / 1.15],
    };
    canvas.addEventListener("keydown", (event) => {
      if (event.key === "0") Object.assign(view, { yaw: 0, pitch: 0, zoom: 1 });
      else if (!keys[event.key]) return;
      event.preventDefault();
      turn(...(keys[event.key] || [0, 0, 1]));
    });
    root.querySelector(".reset").addEventListener("click", () => {
      Object.assign(view, { yaw: 0, pitch: 0, zoom: 1 });
      redraw();
    });
  }

  for (const root of document.querySelectorAll(".exhibit")) {
    const grid = JSON.parse(root.querySelector(".data").textContent);
    grid.values = unpack(grid.values);
    grid.inverse = unpack(grid.inverse);
    setUpCompare(root, grid);
    const image = root.querySelector(".photo") || root.querySelector(".depth");
    image.decode().then(() => setUpCloud(root, grid, image));
  }
})();
