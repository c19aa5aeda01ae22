// The REST service: requests with the token, jobs with progress, errors as sentences.

import { copy, find, make } from "./dom.js";

export class Refusal extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

let token = sessionStorage.getItem("token") || "";

// `/#token=…` comes from `sightline serve --open`: kept for this window, taken out of the address.
export function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!given) return;
  keep(given);
  history.replaceState(null, "", location.pathname + location.search);
}

function keep(text) {
  token = text;
  sessionStorage.setItem("token", text);
}

let asking = null;

// One dialog at a time, however many requests were refused.
function askForToken() {
  asking ??= new Promise((settle) => {
    const dialog = find("dialog.token");
    dialog.returnValue = "";
    dialog.showModal();
    dialog.addEventListener("close", () => {
      const field = find("input", dialog);
      const given = dialog.returnValue === "use" ? field.value.trim() : "";
      field.value = "";
      if (given) keep(given);
      asking = null;
      settle(Boolean(given));
    }, { once: true });
  });
  return asking;
}

function lost(error) {
  if (error.name === "AbortError") throw error;
  throw new Refusal("The server does not answer; is sightline serve still running?", 0);
}

// Send a request; the answer, or a Refusal that says in words what is wrong.
export async function send(path, options = {}) {
  const headers = { ...options.headers };
  const used = token;
  if (used) headers.Authorization = `Bearer ${used}`;
  let answer;
  try {
    answer = await fetch(path, { ...options, headers });
  } catch (error) {
    lost(error);
  }
  // Another request may have asked for it meanwhile.
  if (answer.status === 401 && (token !== used || (await askForToken()))) return send(path, options);
  if (!answer.ok) throw new Refusal(await reason(answer), answer.status);
  return answer;
}

async function reason(answer) {
  const fallback = `The server refused this (${answer.status}).`;
  try {
    return (await answer.json()).error || fallback;
  } catch {
    return fallback;
  }
}

export const getJson = async (path, options) => (await send(path, options)).json();

export const postJson = (path, body, options = {}) =>
  send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), ...options });

const OVER = new Set(["done", "failed", "canceled"]);

// A piece of work on the server that is started, watched and, if wanted, canceled.
//   body: FormData or a plain object (sent as JSON);  place: where progress is shown;  signal: gives up;
//   again: offered where the user has canceled it
export async function work(path, body, { place, signal, tell, again } = {}) {
  // The request itself is not given up: only its answer says which job there is to cancel.
  const begin = body instanceof FormData
    ? () => send(`${path}?wait=false`, { method: "POST", body })
    : () => postJson(`${path}?wait=false`, body);
  const shown = place ? showProgress(place) : null;
  let job = null, unwanted = false;
  const cancel = () => {
    unwanted = true;
    if (job && !OVER.has(job.state)) send(`v1/jobs/${job.id}`, { method: "DELETE" }).catch(() => {});
  };
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    job = await (await begin()).json();
    if (unwanted) cancel();
    signal?.throwIfAborted();
    shown?.cancellable(cancel);
    for await (const now of events(job, signal)) {
      job = now;
      const words = progressWords(job);
      shown?.update(job, words);
      tell?.(words);
    }
    if (unwanted) throw new DOMException("canceled", "AbortError");
    if (job.state === "failed") throw new Refusal(job.error, job.status);
    return new Result(job);
  } finally {
    signal?.removeEventListener("abort", cancel);
    shown?.close();
    if (again && unwanted && !signal?.aborted) offerAgain(place, again);
  }
}

async function* events(job, signal) {
  yield job;
  while (!OVER.has(job.state)) {
    const answer = await send(`v1/jobs/${job.id}/events`, { signal });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read().catch(lost);
      if (done) break;
      text += value.replaceAll("\r\n", "\n");
      const blocks = text.split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const data = block.split("\n").filter((line) => line.startsWith("data:"));
        if (!data.length) continue;
        job = JSON.parse(data.map((line) => line.slice(5)).join("\n"));
        yield job;
      }
    }
    // A stream that broke off: ask once how it stands, then listen again.
    if (!OVER.has(job.state)) yield (job = await getJson(`v1/jobs/${job.id}`, { signal }));
  }
}

// Say that something is waited for, unless it is there in a moment.
export function waitAloud(place, words) {
  let shown = null;
  const timer = setTimeout(() => { shown = showProgress(place, words); }, 500);
  return { close() { clearTimeout(timer); shown?.close(); } };
}

function offerAgain(place, again) {
  place.replaceChildren(make("span", { className: "going" }, "canceled ",
    make("button", { type: "button", className: "again", onclick: () => { place.replaceChildren(); again(); } }, "do it again")));
}

function progressWords(job) {
  if (job.state === "queued") return job.position > 1 ? `waiting, ${job.position - 1} before this` : "waiting";
  return job.step || (job.state === "running" ? "working" : "");
}

function showProgress(place, words = "sending") {
  const box = copy("progress");
  const bar = find("progress", box), button = find(".cancel", box);
  button.hidden = true;
  place.replaceChildren(box);
  find(".words", box).textContent = words;
  return {
    cancellable(act) {
      button.hidden = false;
      button.onclick = () => { button.disabled = true; act(); };
    },
    update(job, words) {
      if (job.state === "running" && job.progress !== null) bar.value = job.progress;
      else bar.removeAttribute("value");
      find(".words", box).textContent = words;
    },
    close() { box.remove(); },
  };
}

// A finished piece of work and its forms.
export class Result {
  constructor(job) {
    this.id = job.id;
    this.formats = job.formats || [];
  }

  at(format) { return `v1/jobs/${this.id}/result?format=${format}`; }

  async json() { return getJson(this.at("json")); }

  async grid() { return getJson(this.at("grid")); }

  async blob(format) { return (await send(this.at(format))).blob(); }

  // The numbers: width, height, values and, where there are error bars, sigma.
  async numbers() {
    const answer = await send(this.at("f32"));
    const head = (name) => Number(answer.headers.get(`X-Sightline-${name}`));
    const width = head("Width"), height = head("Height");
    const all = new Float32Array(await answer.arrayBuffer());
    const values = all.subarray(0, width * height);
    return { width, height, values, sigma: head("Planes") > 1 ? all.subarray(width * height) : null };
  }

  forget() { send(`v1/jobs/${this.id}`, { method: "DELETE" }).catch(() => {}); }
}
