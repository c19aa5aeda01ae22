// A film of a world on a canvas: bodies or frames, where bodies should be, what was measured; and its clock.
//
// World units: x to the right, y up, the origin at the bottom left, a side of 10. A frame's outermost pixels stand
// on the border of the world, so one pixel is 10 / (size - 1) units.

import { find, make, still } from "./dom.js";

const HELD = new Set(["outside", "lost", "merged"]); // places carried over, not measured
const COLUMNS = 8;

export class Film {
  constructor(view) {
    this.view = view;
    this.canvas = find("canvas", view);
    this.scrub = find("input.frame", view);
    this.frame = 0;
    this.count = 1;
    this.playing = false;
    find(".play", view).onclick = () => (this.playing ? this.stop() : this.play());
    this.scrub.oninput = () => { this.stop(); this.frame = Number(this.scrub.value); this.paint(); };
    new ResizeObserver(() => this.#fit()).observe(this.canvas);
  }

  // `shown`: an answer of /v1/physics; `sheet`: a picture of its frames, or null to draw its bodies.
  show(shown, sheet = null) {
    Object.assign(this, { shown, sheet });
    this.count = shown.frames;
    this.scrub.max = this.count - 1;
    this.frame = Math.min(this.frame, this.count - 1);
    this.#flags();
    this.paint();
  }

  // Marks below the slider: frames that were given, and frames in which a law is broken.
  #flags() {
    const bad = new Set(this.shown.laws.flatMap((law) => (law.violated ? law.violations.map((one) => one.frame) : [])));
    const given = this.sheet ? this.shown.condition || 0 : 0;
    const flags = [];
    for (let k = 0; k < this.count; k++) {
      if (!bad.has(k) && k >= given) continue;
      const flag = make("i", { className: bad.has(k) ? "" : "given" });
      flag.style.left = `${(100 * k) / Math.max(1, this.count - 1)}%`;
      flags.push(flag);
    }
    find(".flags", this.view).replaceChildren(...flags);
  }

  play() {
    this.playing = true;
    this.view.classList.add("playing");
    find(".play", this.view).setAttribute("aria-label", "Stop");
    const begin = performance.now() - this.frame * 100;
    const step = (now) => {
      if (!this.playing) return;
      const frame = Math.floor(Math.max(0, now - begin) / 100) % (this.count + 6); // `now` may lie before `begin`
      const shown = Math.min(frame, this.count - 1); // rests a moment at the end
      if (shown !== this.frame) { this.frame = shown; this.paint(); }
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  stop() {
    this.playing = false;
    this.view.classList.remove("playing");
    find(".play", this.view).setAttribute("aria-label", "Play");
  }

  // Runs by itself, unless the user wants calm.
  begin() { if (!still() && !this.playing) this.play(); }

  #fit() {
    const side = Math.round(this.canvas.clientWidth * Math.min(2, devicePixelRatio || 1));
    if (side && side !== this.canvas.width) this.canvas.width = this.canvas.height = side;
    this.paint();
  }

  paint() {
    if (!this.shown) return;
    this.scrub.value = this.frame;
    const time = this.frame * this.shown.frame_time;
    this.scrub.setAttribute("aria-valuetext", `${time.toFixed(1)} seconds`);
    find(".time", this.view).textContent = `${time.toFixed(1)} s`;
    const side = this.canvas.width, pen = this.canvas.getContext("2d");
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, side, side);
    const pixels = this.sheet ? this.shown.size : Infinity;
    const inner = Number.isFinite(pixels) ? 1 - 1 / pixels : 1; // share of the picture between its outermost pixels
    const scale = (side * inner) / this.shown.world_side, edge = (side * (1 - inner)) / 2;
    const at = ([x, y]) => [edge + x * scale, side - edge - y * scale];
    if (this.sheet) this.#frame(pen, side);
    else for (const body of this.shown.bodies) this.#body(pen, at, scale, body);
    if (this.sheet) for (const body of this.shown.bodies) this.#should(pen, at, scale, body);
    for (const track of this.shown.tracks) this.#track(pen, at, side, track);
  }

  #frame(pen, side) {
    const pitch = (this.sheet.naturalWidth + 1) / COLUMNS; // a frame and the line of one pixel beside it
    const left = (this.frame % COLUMNS) * pitch, top = Math.floor(this.frame / COLUMNS) * pitch;
    pen.drawImage(this.sheet, left, top, pitch - 1, pitch - 1, 0, 0, side, side);
  }

  #body(pen, at, scale, body) {
    const [x, y] = at(body.positions[this.frame]);
    pen.fillStyle = body.color;
    pen.beginPath();
    outline(pen, x, y, body.radius * scale, body.shape);
    pen.fill();
  }

  #should(pen, at, scale, body) {
    const [x, y] = at(body.positions[this.frame]);
    pen.strokeStyle = "#111";
    pen.lineWidth = Math.max(1.5, scale / 28);
    pen.setLineDash([scale / 9, scale / 11]);
    pen.beginPath();
    outline(pen, x, y, body.radius * scale, body.shape);
    pen.stroke();
    pen.setLineDash([]);
  }

  #track(pen, at, side, track) {
    const unit = side / 240;
    const until = Math.min(this.frame, track.positions.length - 1);
    const line = () => {
      pen.beginPath();
      let lifted = true;
      for (let k = 0; k <= until; k++) {
        if (HELD.has(track.states[k])) { lifted = true; continue; }
        const [x, y] = at(track.positions[k]);
        if (lifted) pen.moveTo(x, y); else pen.lineTo(x, y);
        lifted = false;
      }
      if (!HELD.has(track.states[until])) {
        const [x, y] = at(track.positions[until]);
        pen.moveTo(x - 5 * unit, y); pen.lineTo(x + 5 * unit, y);
        pen.moveTo(x, y - 5 * unit); pen.lineTo(x, y + 5 * unit);
      }
    };
    for (const [color, width] of [["rgb(255 255 255 / 85%)", 3.2], ["#d08a00", 1.5]]) {
      pen.strokeStyle = color;
      pen.lineWidth = width * unit;
      pen.lineJoin = pen.lineCap = "round";
      line();
      pen.stroke();
    }
  }
}

function outline(pen, x, y, r, shape) {
  if (shape === "square") pen.rect(x - r, y - r, 2 * r, 2 * r);
  else pen.arc(x, y, r, 0, 2 * Math.PI);
}
