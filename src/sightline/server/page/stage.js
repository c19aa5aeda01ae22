// A picture that can be compared with its depth and pointed at, by mouse, finger or keyboard.
//
// Places are pixels (x, y) of the picture; the center of the top left one is (0, 0). Marks are data:
//   { kind: "point", at, label }           { kind: "letter", at, label, won }
//   { kind: "line", from, to, label, known }   { kind: "person", outline, box, label }   { kind: "box", box }

import { copy, draw, find, findAll } from "./dom.js";

const SLACK = 7; // px that a click may wander

export class Stage {
  // `pick(place)`, `hover(place or null)`, `undo()`, `clear()`: what happens on the picture.
  constructor(here, { label, pick, hover = () => {}, undo = () => {} }) {
    this.root = copy("stage");
    here.replaceWith(this.root);
    this.root.setAttribute("aria-label",
      `${label} Arrow keys move a crosshair, with Shift by more; Enter sets a point, Backspace takes the last one back.`);
    Object.assign(this, { pick, hover, undo, marks: [], cross: null, width: 3, height: 2 });
    this.layers = find(".layers", this.root);
    this.svg = find(".marks", this.root);
    this.grip = find(".grip", this.root);
    this.veil = find(".veil", this.root);
    this.#listen();
    new ResizeObserver(() => this.paint()).observe(this.layers);
  }

  // -------------------------------------------------------------- what is shown
  // Show a picture or film; `under` may be null where a browser cannot show what was sent.
  show({ under, width, height, film = false }) {
    this.width = width;
    this.height = height;
    this.film = film;
    this.root.style.setProperty("--ratio", width / height);
    for (const layer of findAll("img, video", this.layers)) {
      layer.hidden = true;
      layer.removeAttribute("src");
      if (layer.load) layer.load();
    }
    this.grip.hidden = true;
    if (under) this.#set("under", under);
    this.cross = null;
    this.setMarks([]);
  }

  // Lay the map in colors over the picture, uncovered to the right of the line.
  cover(address, cut = 50) {
    const alone = !find(".under:not([hidden])", this.layers);
    this.#set("over", address);
    this.grip.hidden = alone;
    this.cutAt(alone ? 0 : cut);
    if (this.film) this.#together();
  }

  #set(which, address) {
    const layer = find(`${this.film ? "video" : "img"}.${which}`, this.layers);
    layer.src = address;
    layer.hidden = false;
    return layer;
  }

  // Two films, one clock.
  #together() {
    const [first, second] = findAll("video:not([hidden])", this.layers);
    if (!second) { first?.play().catch(() => {}); return; }
    first.onseeking = () => { second.currentTime = first.currentTime; };
    first.ontimeupdate = () => {
      if (Math.abs(second.currentTime - first.currentTime) > 0.12) second.currentTime = first.currentTime;
    };
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) {
      for (const film of [first, second]) film.play().catch(() => {});
    }
  }

  // Start or stop the films; returns whether they run.
  play() {
    const films = findAll("video:not([hidden])", this.layers);
    const run = films.length > 0 && films[0].paused;
    for (const film of films) if (run) film.play().catch(() => {}); else film.pause();
    return run;
  }

  get picture() {
    return find("img.under:not([hidden])", this.layers) || find("img.over:not([hidden])", this.layers);
  }

  cutAt(percent) {
    const cut = Math.max(0, Math.min(100, percent));
    this.layers.style.setProperty("--cut", `${cut}%`);
    this.grip.setAttribute("aria-valuenow", Math.round(cut));
    this.grip.setAttribute("aria-valuetext", `${Math.round(cut)} percent photograph`);
    this.grip.dataset.end = cut < 3 ? "left" : cut > 97 ? "right" : "";
    this.cut = cut;
  }

  busy(words) {
    this.veil.hidden = !words;
    this.root.setAttribute("aria-busy", String(Boolean(words)));
    find(".words", this.veil).textContent = words || "";
  }

  setMarks(marks) {
    this.marks = marks;
    this.paint();
  }

  // -------------------------------------------------------------- pointing
  #place(event) {
    const box = this.layers.getBoundingClientRect();
    const x = Math.round(((event.clientX - box.left) / box.width) * this.width - 0.5);
    const y = Math.round(((event.clientY - box.top) / box.height) * this.height - 0.5);
    if (x < -1 || y < -1 || x > this.width || y > this.height) return null;
    return this.#inside([x, y]);
  }

  #inside([x, y]) {
    return [Math.max(0, Math.min(this.width - 1, x)), Math.max(0, Math.min(this.height - 1, y))];
  }

  #listen() {
    const layers = this.layers;
    let down = null;
    layers.addEventListener("pointerdown", (event) => {
      down = event.button === 0 && event.target !== this.grip ? [event.clientX, event.clientY] : null;
    });
    layers.addEventListener("pointerup", (event) => {
      const place = down && Math.hypot(event.clientX - down[0], event.clientY - down[1]) <= SLACK && this.#place(event);
      down = null;
      if (!place) return;
      this.cross = null;
      this.hover(place);
      this.pick(place);
    });
    layers.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.hover(this.#place(event));
    });
    layers.addEventListener("pointerleave", () => { if (!this.cross) this.hover(null); });
    this.#listenToGrip();
    this.root.addEventListener("keydown", (event) => { if (event.target === this.root) this.#key(event); });
    this.root.addEventListener("blur", () => { this.cross = null; this.paint(); });
  }

  #listenToGrip() {
    const grip = this.grip;
    const follow = (event) => {
      const box = this.layers.getBoundingClientRect();
      this.cutAt(((event.clientX - box.left) / box.width) * 100);
    };
    grip.addEventListener("pointerdown", (event) => {
      grip.setPointerCapture(event.pointerId);
      event.preventDefault();
      grip.focus({ focusVisible: false });
    });
    grip.addEventListener("pointermove", (event) => { if (grip.hasPointerCapture(event.pointerId)) follow(event); });
    const steps = { ArrowLeft: -2, ArrowRight: 2, ArrowDown: -2, ArrowUp: 2, PageDown: -20, PageUp: 20 };
    grip.addEventListener("keydown", (event) => {
      if (event.key === "Home") this.cutAt(0);
      else if (event.key === "End") this.cutAt(100);
      else if (steps[event.key]) this.cutAt(this.cut + steps[event.key]);
      else return;
      event.preventDefault();
    });
  }

  #key(event) {
    const step = Math.max(1, Math.round(this.width / 200)) * (event.shiftKey ? 10 : 1);
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (ways[event.key]) {
      const from = this.cross || [Math.round(this.width / 2), Math.round(this.height / 2)];
      const [dx, dy] = ways[event.key];
      this.cross = this.#inside([from[0] + dx * step, from[1] + dy * step]);
      this.hover(this.cross);
    } else if (event.key === "Enter" || event.key === " ") {
      this.cross ||= [Math.round(this.width / 2), Math.round(this.height / 2)];
      this.pick([...this.cross]);
    } else if (event.key === "Backspace" || event.key === "Delete") this.undo();
    else return;
    event.preventDefault();
    this.paint();
  }

  // -------------------------------------------------------------- marks
  paint() {
    const wide = this.layers.clientWidth, high = this.layers.clientHeight;
    if (!wide || !high) return;
    this.svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
    const on = ([x, y]) => [((x + 0.5) / this.width) * wide, ((y + 0.5) / this.height) * high];
    this.svg.replaceChildren();
    for (const mark of this.marks) this.svg.append(DRAW[mark.kind](mark, on));
    for (const pin of findAll(".pin", this.svg)) fit(pin, wide, high);
    if (this.cross) {
      const [x, y] = on(this.cross);
      const path = `M${x - 16} ${y}h11M${x + 5} ${y}h11M${x} ${y - 16}v11M${x} ${y + 5}v11`;
      this.svg.append(draw("path", { class: "cross-halo", d: path }), draw("path", { class: "cross", d: path }));
    }
  }
}

const twice = (name, attributes) =>
  [draw(name, { class: "halo", ...attributes }), draw(name, { class: "stroke", ...attributes })];

const dot = ([x, y]) => draw("g", { class: "point" }, draw("circle", { cx: x, cy: y, r: 5 }));

// A label on a dark plate; `fit` gives it its size and keeps it in the picture.
const pin = ([x, y], words) =>
  draw("g", { class: "pin", "data-x": x, "data-y": y }, draw("rect", { rx: 6 }), draw("text", {}, words));

function fit(group, wide, high) {
  const text = group.querySelector("text"), plate = group.querySelector("rect");
  const width = text.getComputedTextLength() + 16, height = 24;
  const x = Math.max(2, Math.min(wide - width - 2, Number(group.dataset.x) - width / 2));
  const y = Math.max(2, Math.min(high - height - 6, Number(group.dataset.y) - height - 10));
  for (const [name, value] of Object.entries({ x, y, width, height })) plate.setAttribute(name, value);
  text.setAttribute("x", x + 8);
  text.setAttribute("y", y + 16.5);
}

const DRAW = {
  point: (mark, on) => draw("g", {}, dot(on(mark.at)), mark.label && pin(on(mark.at), mark.label)),
  letter(mark, on) {
    const [x, y] = on(mark.at);
    return draw("g", { class: mark.won ? "letter won" : "letter" },
      draw("circle", { cx: x, cy: y, r: 12 }), draw("text", { x, y: y + 4.5 }, mark.label));
  },
  line(mark, on) {
    const a = on(mark.from), b = on(mark.to);
    return draw("g", { class: mark.known ? "known" : "" },
      ...twice("path", { d: `M${a}L${b}` }), dot(a), dot(b),
      mark.label && pin([(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], mark.label));
  },
  person(mark, on) {
    const rings = mark.outline.length ? mark.outline : [corners(mark.box)];
    const path = rings.map((ring) => `M${ring.map(on).join("L")}Z`).join("");
    const [middle, bottom] = on([(mark.box[0] + mark.box[2]) / 2, mark.box[3]]); // a label there hides no face
    return draw("g", { class: "person" }, draw("path", { class: "area", d: path }), ...twice("path", { d: path }),
      mark.label && pin([middle, bottom + 40], mark.label));
  },
  box: (mark, on) => draw("g", { class: "person" }, ...twice("path", { d: `M${corners(mark.box).map(on).join("L")}Z` })),
};

const corners = ([left, top, right, bottom]) => [[left, top], [right, top], [right, bottom], [left, bottom]];
