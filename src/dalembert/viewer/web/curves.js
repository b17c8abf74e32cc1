// Numbers of the curves of a plot: which, their differences, how they are told, their table.

import { beside } from "./numbers.js";
import { locate } from "./run.js";

const SMALLEST = 1e-17; // smaller errors are rounding; a logarithmic axis ends here
const DIGITS = 8; // of single precision

// 0 for what is rounding beside a usual value.
export const told = (value, usual, digits) => beside(value === SMALLEST ? 0 : value, usual, digits);

// (run, group, its series) of all curves, with numbers to draw, and whether on a logarithmic axis; extra: names of further outputs
export function curvesOf(dock, name, extra) {
  const made = [];
  dock.groups.forEach((groups, run) => {
    const take = (group, wanted) => {
      const columns = group.series.some(wanted) ? group.data() : [];
      const sizes = columns.map(largest);
      const usual = group.log ? 0 : Math.max(group.usual?.() ?? 0, ...sizes);
      columns.forEach((values, k) => wanted(group.series[k]) && made.push({ run, group, name: group.series[k].name, label: group.series[k].name, values, usual }));
    };
    for (const group of groups) if (group.name === name) take(group, ({ asked, name: one }) => !asked && !extra.includes(one));
    for (const one of extra) for (const group of groups) take(group, (series) => series.name === one);
  });
  const log = made.length > 0 && made.every(({ group }) => group.log);
  for (const curve of made) {
    curve.times = Array.from(curve.group.times());
    curve.values = Array.from(curve.values, (v) => (Number.isFinite(v) ? (log ? Math.max(v, SMALLEST) : v) : null));
  }
  return [dock.difference ? differences(made) : made, log && !dock.difference];
}

function largest(values) {
  return values.reduce((most, v) => (Math.abs(v) > most ? Math.abs(v) : most), 0);
}

// Times and all curves; a curve that has no value at a time leaves its cell empty.
export function csv({ dock, data, curves }) {
  const many = dock.runs.length > 1;
  const title = ({ run, label, group }) => `${many ? `${dock.names[run]}: ` : ""}${label}${group.shownUnit ? ` [${group.shownUnit}]` : ""}`;
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const cell = (v) => (v === null || v === undefined ? "" : Number(v.toPrecision(DIGITS)));
  const [times, ...columns] = data;
  const rows = times.map((t, k) => [t, ...columns.map((column) => cell(column[k]))].join(","));
  const [name, unit] = dock.over;
  return [[`${name} [${unit}]`, ...curves.map(title)].map(quoted).join(","), ...rows].join("\n") + "\n";
}

// Second run minus first, curve by curve, at the times of the first that both have.
function differences(curves) {
  const [first, second] = [0, 1].map((run) => curves.filter((curve) => curve.run === run));
  return first.flatMap((curve) => {
    const other = second.find(({ label, group }) => label === curve.label && group.name === curve.group.name);
    if (!other) return [];
    const last = other.times[other.times.length - 1];
    const values = curve.times.map((t, k) => {
      if (t < other.times[0] || t > last || curve.values[k] === null) return null;
      const [i, f] = locate(other.times, t);
      const [a, b] = [other.values[i], other.values[Math.min(i + 1, other.values.length - 1)]];
      return a === null || b === null ? null : a + f * (b - a) - curve.values[k];
    });
    return [{ ...curve, label: `Δ ${curve.label}`, values }];
  });
}
