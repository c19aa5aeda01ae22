// Radius against speed: what models are trained on, where this world lies, what was scored before. A click sets it.

import { draw } from "./dom.js";

const WIDE = 340, HIGH = 210, LEFT = 42, RIGHT = 10, TOP = 12, BOTTOM = 38;
export const MOST = { radius: 2.5, speed: 8 };

const x = (radius) => LEFT + ((WIDE - LEFT - RIGHT) * radius) / MOST.radius;
const y = (speed) => HIGH - BOTTOM - ((HIGH - TOP - BOTTOM) * speed) / MOST.speed;

// `balls`: [{ radius, speed, color }]; `past`: [{ radius, speed, broken }]; `range`: of /v1/physics, or null.
export function paintPlane(svg, { balls, past, range }) {
  const words = (at, down, text, anchor = "middle") => draw("text", { x: at, y: down, "text-anchor": anchor }, text);
  const parts = [];
  if (range) {
    const [r0, r1] = range.radius, [v0, v1] = range.speed;
    parts.push(
      draw("rect", { class: "shaded", x: x(r0), y: y(v1), width: x(r1) - x(r0), height: y(v0) - y(v1), rx: 2 }),
      words((x(r0) + x(r1)) / 2, y(v1) + 14, "trained on"),
    );
  }
  for (const radius of [0, 0.5, 1, 1.5, 2, 2.5]) {
    parts.push(draw("path", { class: "grid", d: `M${x(radius)} ${y(0)}V${TOP}` }), words(x(radius), y(0) + 15, String(radius)));
  }
  for (const speed of [0, 2, 4, 6, 8]) {
    parts.push(draw("path", { class: "grid", d: `M${x(0)} ${y(speed)}H${WIDE - RIGHT}` }), words(LEFT - 7, y(speed) + 4, String(speed), "end"));
  }
  parts.push(words(x(MOST.radius / 2), HIGH - 5, "radius, units"));
  parts.push(draw("text", { transform: `translate(12 ${y(MOST.speed / 2)}) rotate(-90)`, "text-anchor": "middle" }, "speed, units/s"));
  for (const one of past) {
    parts.push(draw("circle", { class: one.broken ? "past bad" : "past", cx: x(one.radius), cy: y(one.speed), r: 4.5 }));
  }
  for (const ball of balls) {
    parts.push(draw("circle", { class: "now", cx: x(ball.radius), cy: y(ball.speed), r: 7, fill: ball.color }));
  }
  svg.replaceChildren(...parts);
}

// Radius and speed at a click, in steps of the sliders.
export function placeOf(svg, event) {
  const box = svg.getBoundingClientRect();
  const px = ((event.clientX - box.left) / box.width) * WIDE, py = ((event.clientY - box.top) / box.height) * HIGH;
  const radius = ((px - LEFT) / (WIDE - LEFT - RIGHT)) * MOST.radius;
  const speed = ((HIGH - BOTTOM - py) / (HIGH - TOP - BOTTOM)) * MOST.speed;
  const within = (value, low, high, step) => Math.max(low, Math.min(high, Math.round(value / step) * step));
  return { radius: within(radius, 0.2, MOST.radius, 0.05), speed: within(speed, 0, MOST.speed, 0.1) };
}
