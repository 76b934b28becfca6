// Prometheus' text format read in the browser, and what two readings of it say: rates, and quantiles of histograms.

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Samples by their name: lists of {labels, value}. */
export function readMetrics(text) {
  const samples = new Map();
  for (const line of text.split("\n")) {
    const found = line.startsWith("#") ? null : SAMPLE.exec(line);
    if (!found) continue;
    const labels = Object.fromEntries(
      [...(found[2] ?? "").matchAll(LABEL)].map((pair) => [pair[1], unescaped(pair[2])]),
    );
    if (!samples.has(found[1])) samples.set(found[1], []);
    samples.get(found[1]).push({ labels, value: Number(found[3].replace("Inf", "Infinity")) });
  }
  return samples;
}

function unescaped(text) {
  return text.replace(/\\(.)/g, (_, one) => (one === "n" ? "\n" : one));
}

/** The sum of a metric's samples whose labels `fits` takes. */
export function total(samples, metric, fits = () => true) {
  return (samples.get(metric) ?? []).reduce((sum, each) => (fits(each.labels) ? sum + each.value : sum), 0);
}

/** Sums by a label's value. */
export function totals(samples, metric, label) {
  const sums = new Map();
  for (const each of samples.get(metric) ?? []) {
    const value = each.labels[label];
    sums.set(value, (sums.get(value) ?? 0) + each.value);
  }
  return sums;
}

/** A quantile of what a histogram counted between two readings, within its buckets' width; null where nothing was. */
export function quantile(before, after, metric, share) {
  const grown = growth(totals(before, `${metric}_bucket`, "le"), totals(after, `${metric}_bucket`, "le"));
  const all = grown.length ? grown.at(-1).count : 0;
  if (all <= 0) return null;
  const wanted = share * all;
  let low = { bound: 0, count: 0 };
  for (const bucket of grown) {
    if (bucket.count >= wanted) {
      if (bucket.bound === Infinity) return low.bound;
      const part = (wanted - low.count) / (bucket.count - low.count);
      return low.bound + part * (bucket.bound - low.bound);
    }
    low = bucket;
  }
  return low.bound;
}

function growth(before, after) {
  const buckets = [...after].map(([le, count]) => ({
    bound: le === "+Inf" ? Infinity : Number(le),
    // A gateway that was started anew counts from zero.
    count: Math.max(0, count - (before.get(le) ?? 0)),
  }));
  return buckets.sort((a, b) => a.bound - b.bound);
}
