// The picture as a file: what the stage shows with its title, its time, names and numbers, and the scale of arrows.

import { outline } from "./scale.js";

// note: at the bottom; keys: of the scale, may be none
export function still(stage, title, note, keys) {
  stage.picture(); // draws it
  const { width, height } = stage.size;
  const ratio = stage.canvas.width / width;
  const picture = Object.assign(document.createElement("canvas"), { width: stage.canvas.width, height: stage.canvas.height });
  const ink = picture.getContext("2d");
  ink.drawImage(stage.canvas, 0, 0);
  ink.scale(ratio, ratio);
  const style = getComputedStyle(document.body);
  const colour = (name) => style.getPropertyValue(name).trim();
  const write = (text, x, y, font, name) => {
    Object.assign(ink, { font: `${font} ${style.fontFamily}`, fillStyle: colour(name), textBaseline: "middle" });
    ink.fillText(text, x, y);
    return ink.measureText(text).width;
  };
  const { left, top } = stage.canvas.getBoundingClientRect();
  for (const label of document.querySelectorAll(".labels span:not([hidden])")) {
    const box = label.getBoundingClientRect();
    ink.fillStyle = colour("--card");
    ink.fillRect(box.left - left, box.top - top, box.width, box.height);
    if (label.style.borderLeftColor) {
      ink.fillStyle = label.style.borderLeftColor;
      ink.fillRect(box.left - left, box.top - top, 4, box.height);
    }
    write(label.textContent, box.right - left - label.clientWidth + 5, (box.top + box.bottom) / 2 - top, "11px", "--text");
  }
  write(title, 14, 18, "16px", "--text");
  write(note, 14, height - 19, "14px", "--muted");
  ink.font = `14px ${style.fontFamily}`;
  let x = width - 14 - keys.reduce((sum, { pixels, text }) => sum + 24 + pixels + ink.measureText(text).width, ink.measureText("scale:").width);
  if (keys.length) x += write("scale:", x, height - 19, "14px", "--muted");
  for (const key of keys) {
    ink.save();
    ink.translate(x + 16, height - 18);
    Object.assign(ink, { strokeStyle: colour("--arrow"), fillStyle: colour("--arrow"), lineWidth: 2 });
    const [shaft, tip] = outline(key);
    ink.stroke(new Path2D(shaft));
    ink.fill(new Path2D(tip));
    ink.restore();
    x += 24 + key.pixels;
    x += write(key.text, x, height - 19, "14px", "--muted");
  }
  return picture.toDataURL("image/png");
}
