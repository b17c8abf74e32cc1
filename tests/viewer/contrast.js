// [contrast, what WCAG AA asks for, what it is] of every text, icon and curve on the page, and [0, 0, ""] of a control without a name.
() => {
  const parse = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const over = ([r, g, b, a = 1], below) => [r, g, b].map((v, k) => a * v + (1 - a) * below[k]);
  const behind = (node) => {
    const layers = [];
    for (let n = node; n; n = n.parentElement) layers.push(parse(getComputedStyle(n).backgroundColor));
    layers.push(parse(getComputedStyle(document.body).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const light = (c) => c.map((v) => linear(v / 255)).reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const style = getComputedStyle(node);
    if (!node.getBoundingClientRect().width || node.closest(".triad") || style.visibility === "hidden") continue;
    const control = /^(INPUT|SELECT|BUTTON)$/.test(node.tagName);
    if (control && !node.ariaLabel && !node.textContent && !node.title) found.push([0, 0, ""]);
    const text = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || /INPUT|SELECT/.test(node.tagName);
    const icon = node.tagName === "svg";
    if (node.matches(".legend i")) found.push([ratio(parse(style.borderTopColor), behind(node)), 3, `curve ${style.borderTopColor}`]);
    if (!text && !icon) continue;
    const below = behind(icon ? node.parentElement : node);
    const what = `${node.tagName} ${node.getAttribute("class") ?? ""}: ${node.textContent.slice(0, 30)}`;
    found.push([ratio(over(parse(icon ? style.fill : style.color), below), below), icon ? 3 : 4.5, what]);
  }
  return found;
}
