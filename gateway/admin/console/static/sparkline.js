// A curve without axes: how something went over the last two minutes.

import { svg } from "./dom.js";

const WIDTH = 240;
const HEIGHT = 44;

/** `values`: numbers, or null where nothing was measured, which breaks the line. `room`: how many fit. */
export function sparkline(values, room, label) {
  const known = values.filter((value) => value !== null);
  const top = Math.max(...known, 0) || 1;
  const x = (at) => (WIDTH * (room - values.length + at)) / (room - 1);
  const y = (value) => HEIGHT - 3 - ((HEIGHT - 8) * value) / top;
  const lines = runs(values).map((run) => run.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`));
  return svg(
    "svg",
    {
      class: "sparkline",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": label,
    },
    svg("line", { class: "ground", x1: 0, x2: WIDTH, y1: HEIGHT - 2.5, y2: HEIGHT - 2.5 }),
    lines.map((points) => [
      svg("polygon", {
        points: [
          `${points[0].split(",")[0]},${HEIGHT - 3}`,
          ...points,
          `${points.at(-1).split(",")[0]},${HEIGHT - 3}`,
        ].join(" "),
      }),
      svg("polyline", { points: points.join(" ") }),
    ]),
  );
}

function runs(values) {
  const found = [];
  let run = null;
  values.forEach((value, at) => {
    if (value === null) run = null;
    else if (run) run.push([at, value]);
    else found.push((run = [[at, value]]));
  });
  return found;
}
