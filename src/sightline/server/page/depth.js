// The tab Depth: photograph and depth, values, cloud, files.

import { work } from "./api.js";
import { complain, find, hush, make, notes } from "./dom.js";
import { offer } from "./saving.js";
import { Stage } from "./stage.js";

const SOURCES = {
  given: "given", exif: "from the picture's EXIF", estimated: "from the picture's straight lines",
  assumed: "assumed: the picture does not say",
};

export const lensWords = (camera) =>
  camera ? `${Math.round(camera.fov)}° wide, ${SOURCES[camera.source] || camera.source}` : null;

// What a map says at a place (x, y), in words with unit and error bar.
export function valueWords(numbers, facts, [x, y]) {
  const at = y * numbers.width + x;
  const value = numbers.values[at];
  if (!Number.isFinite(value)) return "no value here";
  const sigma = numbers.sigma ? numbers.sigma[at] : NaN;
  const unit = facts.unit ? ` ${facts.unit}` : "";
  if (!Number.isFinite(sigma) || sigma <= 0) return `${Number(value.toPrecision(3))}${unit}`;
  const digits = Math.max(0, Math.min(4, 1 - Math.floor(Math.log10(sigma))));
  return `${value.toFixed(digits)} ± ${sigma.toFixed(digits)}${unit}`;
}

export class DepthTab {
  constructor(panel, source, models) {
    this.panel = panel;
    this.source = source;
    this.pins = [];
    this.fresh = false;
    this.stage = new Stage(find(".stage-here", panel), {
      label: "The picture and its depth.",
      pick: (place) => this.#pin(place),
      hover: (place) => this.#read(place),
      undo: () => { this.pins.pop(); this.#marks(); },
    });
    const choice = find(".model", panel);
    const usable = models.models.filter((model) => model.purpose === "depth" && model.usable);
    choice.append(...usable.map(({ name }) => make("option", { value: name, selected: name === models.defaults.depth }, name)));
    choice.onchange = () => this.run();
    find(".sigma", panel).onchange = () => this.run();
    find(".front", panel).onclick = () => this.cloud?.front();
    source.addEventListener("change", () => { this.fresh = false; });
  }

  // The tab is open: bring it up to date with the picture.
  open() {
    if (!this.fresh && this.source.current) this.run();
  }

  async run() {
    const picture = this.source.current;
    if (!picture) return;
    this.fresh = true;
    this.running?.abort();
    const running = (this.running = new AbortController());
    this.#begin(picture);
    try {
      const form = new FormData();
      form.append(picture.film ? "video" : "image", picture.file, picture.name);
      form.append("model", find(".model", this.panel).value);
      if (!picture.film && find(".sigma", this.panel).checked) form.append("sigma", "true");
      const result = await work("v1/depth", form, {
        place: find(".job", this.panel), signal: running.signal, again: () => this.run(),
        tell: (words) => this.stage.busy(words || "working"),
      });
      await (picture.film ? this.#showFilm(picture, result, running.signal) : this.#show(picture, result, running.signal));
    } catch (error) {
      if (running === this.running) this.#failed(picture, error);
    } finally {
      if (running === this.running) this.stage.busy("");
    }
  }

  #begin(picture) {
    hush();
    this.result?.forget();
    Object.assign(this, { result: null, numbers: null, facts: null, pins: [] });
    find(".work", this.panel).hidden = false;
    find(".save", this.panel).hidden = true;
    find(".space", this.panel).hidden = picture.film;
    find(".sigma", this.panel).closest("label").hidden = picture.film;
    find(".legend", this.panel).hidden = false;
    find(".value", this.panel).textContent = "\u00a0";
    find(".count", this.panel).textContent = "\u00a0";
    notes(find(".notes", this.panel), []);
    this.cloud?.close();
    this.cloud = null;
    const canvas = find(".cloud", this.panel);
    canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    canvas.style.aspectRatio = `${picture.width} / ${picture.height}`;
    this.stage.show({ under: picture.seen ? picture.url : null, width: picture.width, height: picture.height, film: picture.film });
    this.stage.busy("sending");
  }

  // What there is nothing to see in is not shown: no cloud, and no stage where the browser shows no picture either.
  #failed(picture, error) {
    complain(error);
    if (this.result) return;
    find(".space", this.panel).hidden = true;
    find(".legend", this.panel).hidden = true;
    find(".work", this.panel).hidden = !picture.seen;
  }

  async #show(picture, result, signal) {
    const facts = await result.json();
    const [colors, numbers] = await Promise.all([result.blob("color"), result.numbers()]);
    if (signal.aborted) return;
    Object.assign(this, { result, facts, numbers });
    if (!picture.seen) this.stage.show({ under: null, width: facts.width, height: facts.height });
    await this.#cover(colors);
    if (signal.aborted) return;
    this.stage.busy("");
    offer(find(".files", this.panel), result, `${picture.stem}-depth`);
    find(".save", this.panel).hidden = false;
    this.#describe(facts);
    find(".value", this.panel).textContent = "Point at the picture to read a value.";
    const grid = sightline.readGrid(await result.grid());
    if (signal.aborted) return;
    this.cloud = sightline.showCloud(find(".cloud", this.panel), grid, this.stage.picture, (count) => {
      find(".count", this.panel).textContent = `${count.toLocaleString("en")} points; drag to turn`;
    });
  }

  async #cover(blob) {
    if (this.colors) URL.revokeObjectURL(this.colors);
    this.colors = URL.createObjectURL(blob);
    const address = this.colors;
    await make("img", { src: address }).decode?.().catch(() => {});
    if (address !== this.colors) return;
    this.stage.cover(address);
    await this.stage.picture?.decode().catch(() => {});
  }

  async #showFilm(picture, result, signal) {
    const facts = await result.json();
    const film = await result.blob("mp4");
    if (signal.aborted) return;
    this.result = result;
    if (this.colors) URL.revokeObjectURL(this.colors);
    this.colors = URL.createObjectURL(film);
    if (!picture.seen) this.stage.show({ under: null, width: facts.width, height: facts.height, film: true });
    this.stage.cover(this.colors);
    this.stage.busy("");
    offer(find(".files", this.panel), result, `${picture.stem}-depth`);
    find(".save", this.panel).hidden = false;
    find(".value", this.panel).textContent = "Click the film to stop it or let it run.";
    notes(find(".notes", this.panel), [
      ["Values", "relative disparity: larger is nearer; no unit"],
      ["Frames", `${facts.frames} at ${Number(facts.fps.toFixed(2))} per second`],
      ["Cuts", facts.cuts?.length ? `before frame ${facts.cuts.join(", ")}` : "none"],
      ["Damage", facts.damage], ["Made by", facts.model], ["Took", `${facts.seconds.toFixed(1)} s`],
    ]);
  }

  #describe(facts) {
    const ends = facts.unit ? [facts.low, facts.high].map((v) => `${Number(v.toPrecision(3))} ${facts.unit}`) : ["", ""];
    if (facts.direction === "larger is nearer") ends.reverse();
    find(".near", this.panel).textContent = `near ${ends[0]}`.trim();
    find(".far", this.panel).textContent = `far ${ends[1]}`.trim();
    notes(find(".notes", this.panel), [
      ["Values", facts.unit ? `${facts.kind.replace("_", " ")} in ${facts.unit}, ${facts.direction}` : `relative disparity: ${facts.direction}; no unit, scale and zero point are unknown`],
      ["Size", `${facts.width} × ${facts.height}`], ["Lens", lensWords(facts.camera)], ["Made by", facts.model],
      ["Took", `${facts.seconds.toFixed(1)} s`],
    ]);
  }

  #read(place) {
    if (!this.numbers) return;
    const output = find(".value", this.panel);
    if (!place) { output.textContent = "Point at the picture to read a value."; return; }
    const meaning = this.facts.unit ? "" : ` (no unit, ${this.facts.direction})`;
    output.textContent = `${valueWords(this.numbers, this.facts, place)}${meaning} at ${place.join(", ")}`;
  }

  #pin(place) {
    if (this.stage.film) { this.stage.play(); return; }
    if (!this.numbers) return;
    this.pins = [...this.pins, { kind: "point", at: place, label: valueWords(this.numbers, this.facts, place) }].slice(-6);
    this.#marks();
  }

  #marks() { this.stage.setMarks(this.pins); }
}
