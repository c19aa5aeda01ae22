// The picture that Depth, Meters and Ask are about: chosen, dropped, pasted, or a sample.

import { getJson, send } from "./api.js";
import { complain, find, findAll, hush, make } from "./dom.js";

// Holds `current`: { file, name, stem, url, width, height, film }, and tells those who wait for a new one.
export class Source extends EventTarget {
  constructor(root, limits) {
    super();
    this.root = root;
    this.current = null;
    this.turn = 0; // of whoever chose last
    this.limits = limits;
    this.input = find(".hidden-file", root);
    this.input.accept = [...limits.picture_types, ...limits.video_types, "image/*", "video/*"].join(",");
    for (const button of findAll(".choose", root)) button.onclick = () => this.input.click();
    this.input.onchange = () => { this.take(this.input.files[0]); this.input.value = ""; };
    this.#listen();
    this.#samples().catch(complain);
  }

  #listen() {
    let depth = 0; // enter and leave come for every element on the way
    const carries = (event) => event.dataTransfer?.types.includes("Files");
    addEventListener("dragenter", (event) => { if (carries(event)) this.#dropping(++depth > 0); });
    addEventListener("dragleave", (event) => { if (carries(event)) this.#dropping(--depth > 0); });
    addEventListener("dragover", (event) => { if (carries(event)) event.preventDefault(); });
    addEventListener("drop", (event) => {
      if (!carries(event)) return;
      event.preventDefault();
      depth = 0;
      this.#dropping(false);
      this.dispatchEvent(new CustomEvent("drop", { detail: event.dataTransfer.files[0] }));
    });
    addEventListener("paste", (event) => {
      const [file] = event.clipboardData?.files || [];
      if (file) this.take(file);
    });
  }

  #dropping(on) { document.body.classList.toggle("dropping", on); }

  // The button is seen only once it has something to show.
  async #samples() {
    const { examples } = await getJson("v1/examples");
    const pictures = examples.filter(({ name }) => /\.(jpe?g|png)$/.test(name));
    const first = find(".sample-first", this.root);
    first.onclick = () => this.sample(pictures[0].name);
    first.hidden = !pictures.length;
    const shown = await Promise.all(pictures.map(async ({ name, text }) =>
      ({ name, text, url: URL.createObjectURL(await (await send(`v1/examples/${name}`)).blob()) })));
    const button = ({ name, text, url }) =>
      make("button", { type: "button", title: text, ariaLabel: `Sample: ${text}`, onclick: () => this.sample(name) },
        make("img", { src: url, alt: "" }));
    find(".samples", this.root).replaceChildren(...shown.map(button));
    find(".shelf", this.root).replaceChildren(...shown.map(button));
  }

  async sample(name) {
    const turn = ++this.turn;
    try {
      const blob = await (await send(`v1/examples/${name}`)).blob();
      if (turn === this.turn) await this.take(new File([blob], name, { type: blob.type }));
    } catch (error) {
      if (turn === this.turn) complain(error);
    }
  }

  async take(file) {
    if (!file) return;
    const turn = ++this.turn;
    hush();
    if (file.size > this.limits.max_body_bytes) {
      complain(new Error(`The file ${file.name} has ${megabytes(file.size)}; this server takes ${megabytes(this.limits.max_body_bytes)} at most`));
      return;
    }
    const ending = file.name.slice(file.name.lastIndexOf(".")).toLowerCase();
    const film = file.type.startsWith("video/") || this.limits.video_types.includes(ending);
    const url = URL.createObjectURL(file);
    const size = await (film ? filmSize(url) : pictureSize(url));
    if (turn !== this.turn) { // another was chosen while this one was being decoded
      URL.revokeObjectURL(url);
      return;
    }
    if (this.current) URL.revokeObjectURL(this.current.url);
    const stem = file.name.replace(/\.[^.]*$/, "") || "picture";
    this.current = { file, name: file.name, stem, film, url, seen: size !== null, ...(size || { width: 3, height: 2 }) };
    this.#show();
    this.dispatchEvent(new Event("change"));
  }

  #show() {
    const { name, url, width, height, film, seen } = this.current;
    document.body.classList.add("has-picture");
    find(".empty", this.root).hidden = true;
    find(".chosen", this.root).hidden = false;
    find(".name", this.root).textContent = name;
    find(".size", this.root).textContent = seen ? `${width} × ${height}${film ? ", video" : ""}` : "not shown by this browser";
    const thumb = find(".thumb", this.root);
    thumb.hidden = film || !seen;
    if (film || !seen) thumb.removeAttribute("src"); else thumb.src = url;
  }
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

// Sizes as the browser shows them, upright; null where it cannot.
async function pictureSize(url) {
  const image = make("img", { src: url });
  try {
    await image.decode();
    return { width: image.naturalWidth, height: image.naturalHeight };
  } catch {
    return null;
  }
}

function filmSize(url) {
  return new Promise((settle) => {
    const film = make("video", { src: url, preload: "metadata", muted: true });
    film.onloadedmetadata = () => settle(film.videoWidth ? { width: film.videoWidth, height: film.videoHeight } : null);
    film.onerror = () => settle(null);
  });
}
