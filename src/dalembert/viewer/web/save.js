// Give the reader a file: a blob, or an address that holds its data.

export function save(name, data) {
  const link = document.createElement("a");
  link.href = data instanceof Blob ? URL.createObjectURL(data) : data;
  link.download = name.replace(/[\\/:*?"<>|]/g, " ");
  link.click();
  if (data instanceof Blob) setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
