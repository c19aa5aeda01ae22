// The tab Physics: a world with sliders, its laws, a video or the video model scored against it.

import { postJson, waitAloud, work } from "./api.js";
import { afterPause, complain, copy, find, findAll, hush, make } from "./dom.js";
import { Film } from "./film.js";
import { MOST, paintPlane, placeOf } from "./plane.js";
import { offer } from "./saving.js";

const COLORS = ["#ff0000", "#0000ff"];
const FIRST = { uniform: [[1, 2.5]], parabola: [[1, 2.5]], collision: [[1, 2.5], [0.8, 2]] };
const NAMES = { uniform: ["The ball"], parabola: ["The ball"], collision: ["Left ball", "Right ball"] };

export class PhysicsTab {
  constructor(panel, models, limits) {
    Object.assign(this, { panel, models, limits, past: [], range: null, settings: structuredClone(FIRST), scored: null });
    this.film = new Film(find(".view", panel));
    for (const radio of findAll("input[name=scenario]", panel)) radio.onchange = () => this.#changeWorld();
    this.soon = afterPause(() => this.#world(), 140);
    const file = find(".what .hidden-file", panel);
    find(".upload", panel).onclick = () => file.click();
    file.onchange = () => { this.score(file.files[0]); file.value = ""; };
    find(".self", panel).onclick = () => { this.scored = null; this.#world(); };
    find(".truth", panel).onchange = () => { if (this.scored?.file) this.score(this.scored.file); };
    find(".plane", panel).onclick = (event) => this.#pickPlace(event);
    this.#setUpModel();
    this.#balls();
  }

  get scenario() { return find("input[name=scenario]:checked", this.panel).value; }
  get values() { return this.settings[this.scenario]; }

  open() {
    if (!this.opened) { this.opened = true; this.#world(); }
  }

  // -------------------------------------------------------------- the world and its sliders
  #changeWorld() {
    Object.assign(this, { past: [], scored: null, range: null });
    this.#balls();
    this.#world();
  }

  #balls() {
    const boxes = this.values.map(([radius, speed], k) => {
      const box = copy("ball");
      find("legend", box).textContent = NAMES[this.scenario][k];
      box.style.setProperty("--ball", COLORS[k]);
      for (const [name, value, unit, slot, digits] of [["radius", radius, "units", 0, 2], ["speed", speed, "units/s", 1, 1]]) {
        const input = find(`input.${name}`, box);
        const show = () => { input.closest("label").querySelector("output").textContent = `${Number(input.value).toFixed(digits)} ${unit}`; };
        input.value = value;
        input.oninput = () => { this.values[k][slot] = Number(input.value); show(); this.#moved(); };
        show();
      }
      return box;
    });
    find(".balls", this.panel).replaceChildren(...boxes);
    this.#bands();
    this.#plane();
  }

  #moved() {
    this.#plane();
    if (this.scored) return; // what was scored stays until it is left; the plane shows where the world would lie
    this.soon();
  }

  #pickPlace(event) {
    const { radius, speed } = placeOf(find(".plane", this.panel), event);
    // With two balls, the nearer one of the plane moves.
    const far = ([r, v]) => Math.hypot((r - radius) / MOST.radius, (v - speed) / MOST.speed);
    const k = this.values.length > 1 && far(this.values[1]) < far(this.values[0]) ? 1 : 0;
    this.values[k] = [Number(radius.toFixed(2)), Number(speed.toFixed(1))];
    this.#balls();
    this.#moved();
  }

  #body() {
    return {
      scenario: this.scenario, radii: this.values.map(([r]) => r), speeds: this.values.map(([, v]) => v),
      seed: 0, direction: "right", size: 128, condition: 3,
    };
  }

  async #world() {
    this.running?.abort();
    const running = (this.running = new AbortController());
    const waiting = waitAloud(find(".job", this.panel), "waiting for the server");
    try {
      const body = this.#body();
      const shown = await (await postJson("v1/physics/world", body, { signal: running.signal })).json();
      if (running !== this.running) return;
      this.result?.forget();
      this.result = new Played(body);
      this.#show(shown, null, "of this world, as measured in its video");
      hush();
    } catch (error) {
      if (running === this.running) complain(error);
    } finally {
      waiting.close();
    }
  }

  // -------------------------------------------------------------- a video, or the video model
  async score(file) {
    if (!file) return;
    if (file.size > this.limits.max_body_bytes) {
      complain(new Error(`The file ${file.name} is larger than this server takes`));
      return;
    }
    const truth = find(".truth", this.panel).value;
    const form = new FormData();
    form.append("video", file, file.name);
    form.append("scenario", this.scenario);
    form.append("truth", truth);
    if (truth === "world") {
      for (const [radius, speed] of this.values) { form.append("radii", radius); form.append("speeds", speed); }
    }
    await this.#judge("v1/physics/score", form, { file, words: `of ${file.name}` });
  }

  #setUpModel() {
    const button = find(".predict", this.panel);
    const about = find(".about", this.panel);
    about.hidden = false;
    if (!this.models.defaults.video) {
      button.disabled = true;
      about.replaceChildren("This server has no video model to run: the embedded one needs ",
        make("code", {}, "pip install 'sightline[perception]'"), ". Videos of any other can be scored.");
      return;
    }
    about.textContent = `The video model is ${this.models.defaults.video}: it sees three frames and continues them.`;
    button.onclick = () => this.#judge("v1/physics/predict", this.#body(), { words: "of what the video model predicts" });
  }

  async #judge(path, body, scored) {
    hush();
    this.soon.drop();
    this.running?.abort();
    const running = (this.running = new AbortController());
    const buttons = findAll(".what button", this.panel).filter((button) => !button.disabled);
    for (const button of buttons) button.disabled = true;
    try {
      const result = await work(path, body, { place: find(".job", this.panel), signal: running.signal });
      const shown = await result.json();
      const sheet = await picture(await result.blob("png"));
      if (running !== this.running) return;
      this.result?.forget();
      Object.assign(this, { result, scored });
      this.film.frame = 0;
      this.#remember(shown);
      this.#show(shown, sheet, scored.words);
    } catch (error) {
      if (running === this.running) complain(error);
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  }

  // Where scored videos lie in the plane, and whether they broke a law.
  #remember(shown) {
    const broken = shown.laws.some((law) => law.violated) || shown.abnormal.abnormal;
    for (const track of shown.tracks) {
      const [a, b] = [track.positions[0], track.positions[Math.min(2, track.positions.length - 1)]];
      const speed = Math.hypot(b[0] - a[0], b[1] - a[1]) / (2 * shown.frame_time);
      this.past.push({ radius: track.radius, speed, broken });
    }
    this.past = this.past.slice(-24);
  }

  // -------------------------------------------------------------- what is shown
  #show(shown, sheet, words) {
    this.range = shown.range || this.range;
    this.film.show(shown, sheet);
    this.film.begin();
    find(".self", this.panel).hidden = !sheet;
    find(".of", this.panel).textContent = words;
    const range = find(".range", this.panel);
    range.textContent = shown.range ? sentence(shown.range.text) : "\u00a0";
    range.classList.toggle("out", shown.range?.in_training_range === false);
    const abnormal = find(".abnormal", this.panel);
    abnormal.hidden = !shown.abnormal.abnormal;
    abnormal.textContent = `Not a normal video: ${shown.abnormal.reasons.slice(0, 5).join("; ")}${shown.abnormal.reasons.length > 5 ? "; and more" : ""}.`;
    const spoken = shown.laws.filter((law) => law.value !== null); // others say nothing about such a world
    find(".law-table tbody", this.panel).replaceChildren(...spoken.map(lawRow));
    offer(find(".files", this.panel), this.result, sheet ? "scored" : `${shown.scenario}-world`, { npz: "npz of frames" });
    this.#bands();
    this.#plane();
  }

  #bands() {
    for (const [name, slot] of [["radius", 0], ["speed", 1]]) {
      for (const input of findAll(`input.${name}`, this.panel)) {
        const band = find(".trained", input.parentElement);
        const range = this.range?.[name];
        band.hidden = !range;
        if (!range) continue;
        const share = (value) => (value - input.min) / (input.max - input.min);
        band.style.setProperty("--from", share(range[0]));
        band.style.setProperty("--to", share(range[1]));
        input.setAttribute("aria-description", `Models are trained on ${range[0]} to ${range[1]}.`);
      }
    }
  }

  #plane() {
    const balls = this.values.map(([radius, speed], k) => ({ radius, speed, color: COLORS[k] }));
    paintPlane(find(".plane", this.panel), { balls, past: this.past, range: this.range });
  }
}

// A world that was played: quick enough to be played again for each form that is saved.
class Played {
  formats = ["mp4", "png", "npz"];

  constructor(body) { this.body = body; }

  async blob(format) { return (await postJson(`v1/physics/world?format=${format}`, this.body)).blob(); }

  forget() {}
}

async function picture(blob) {
  const image = make("img", { src: URL.createObjectURL(blob) });
  await image.decode();
  URL.revokeObjectURL(image.src);
  return image;
}

const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) ? "" : ".");

// A law: its value, what is allowed, and a gauge whose middle is the tolerance.
function lawRow(law) {
  const right = law.expected ?? null; // where a law has a right value that is not zero
  const bar = make("i");
  const off = Math.abs(right === null ? law.value : law.value - right);
  const worst = Math.max(off, ...law.violations.map((one) => Math.abs(one.size)));
  const share = law.tolerance ? worst / law.tolerance / 2 : law.violated ? 1 : 0;
  bar.style.setProperty("--share", law.violated ? Math.max(0.53, Math.min(1, share)) : Math.min(0.48, share));
  return make("tr", { className: law.violated ? "broken" : "kept" },
    make("td", {}, make("b", {}, law.title), make("small", {}, law.description)),
    make("td", {}, law.text, make("small", { className: "narrow" }, law.allowed)),
    make("td", { className: "quiet" }, law.allowed),
    make("td", {}, make("div", { className: "gauge" }, bar)),
    make("td", { className: "said-so" }, law.violated ? "broken" : "kept"));
}
