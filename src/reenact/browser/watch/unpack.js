"use strict";
// Unpack data within a limit, which counts the bytes that come out. The player and the viewer share it.

const UNPACKED = 300_000_000;

/** Return unpacked data as a Blob. Throws an Error if it is damaged, or larger than the limit. */
async function unpacked(blob, format, most = UNPACKED) {
  const reader = blob.stream().pipeThrough(new DecompressionStream(format)).getReader(), pieces = [];
  for (let left = most; ;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(pieces);
    left -= value.length;
    if (left < 0) {
      reader.cancel().catch(() => {});
      throw new Error(`it unpacks to more than ${most / 1e6} MB`);
    }
    pieces.push(value);
  }
}
