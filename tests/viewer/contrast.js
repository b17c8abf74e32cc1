// [contrast, what WCAG AA asks for, what it is] of every text, icon, curve, border, mark and swatch on the page, and [0, 0, ""] of a
// control without a name. Behind what has no card is the moving picture: a part may be as bright or as dark as can be.
() => {
  const parse = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((v, k) => a * v + (1 - a) * below[k]);
  const behind = (node) => {
    const layers = [];
    for (let n = node; n && n !== document.body; n = n.parentElement) layers.push(parse(getComputedStyle(n).backgroundColor));
    const pages = node.closest(".deck") ? [[255, 255, 255], [0, 0, 0]] : [parse(getComputedStyle(document.body).backgroundColor)];
    return pages.map((page) => layers.reduceRight((below, layer) => over(layer, below), page));
  };
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (c) => c.map((v) => linear(v / 255)).reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const worst = (colour, pages) => Math.min(...pages.map((below) => ratio(over(parse(colour), below), below)));
  const root = getComputedStyle(document.documentElement);
  const named = (name) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const style = getComputedStyle(node);
    if (!node.getBoundingClientRect().width || style.visibility === "hidden") continue;
    const control = /^(INPUT|SELECT|BUTTON)$/.test(node.tagName);
    if (control && !node.ariaLabel && !node.textContent && !node.title) found.push([0, 0, ""]);
    if (node.closest(".triad")) {
      const own = node.parentElement.querySelector("circle");
      const card = behind(document.querySelector(".triad"));
      if (node.tagName === "circle") found.push([worst(style.stroke, card), 3, `triad ${node.parentElement.getAttribute("class")}`]);
      if (node.tagName === "text") found.push([ratio(parse(style.fill), parse(getComputedStyle(own).fill)), 4.5, `triad letter ${node.textContent}`]);
      continue;
    }
    const what = `${node.tagName} ${node.getAttribute("class") ?? ""}: ${node.textContent.slice(0, 30)}`;
    if (node.matches(".legend i")) found.push([worst(style.borderTopColor, behind(node)), 3, `curve ${style.borderTopColor}`]);
    if (node.matches(".kind i")) found.push([worst(style.backgroundColor, behind(node.parentElement)), 3, `swatch ${what}`]);
    if (node.matches(".labels .number")) {
      found.push([worst(style.borderLeftColor, behind(node)), 3, `number ${what}`]);
      found.push([ratio(parse(style.borderLeftColor), parse(named("--stage"))), 3, `arrow ${what}`]);
    }
    if (node.matches(".small, .speed") && parse(style.borderTopColor)[3] !== 0) found.push([worst(style.borderTopColor, behind(node.parentElement)), 3, `border ${what}`]);
    if (node.matches(":is(.tool, .small, .eye)[aria-pressed=true]")) {
      const mark = style.backgroundImage.match(/rgba?\([^)]*\)/)?.[0];
      found.push([mark ? worst(mark, behind(node)) : 0, 3, `mark ${what}`]);
    }
    if (node.matches(".slider, .strip")) {
      const name = node.matches(".slider") ? "--edge" : "--error";
      found.push([worst(named(name), behind(node)), 3, `${name} ${root.getPropertyValue(name)}`]);
    }
    const text = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || /INPUT|SELECT/.test(node.tagName);
    if (node.matches(".scale path")) found.push([worst(named("--arrow"), behind(node.closest(".key"))), 3, "scale"]);
    const icon = node.tagName === "svg" && !node.closest(".scale");
    if (!text && !icon) continue;
    found.push([worst(icon ? style.fill : style.color, behind(icon ? node.parentElement : node)), icon ? 3 : 4.5, what]);
  }
  return found;
}
