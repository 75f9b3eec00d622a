// Zip files, read in place: what is listed at their end, and one member at a time.

/** An error whose message is one line for the reader. */
class Refused extends Error {}

const LARGEST = 150_000_000, MEMBERS = 20_000;
const [LOCAL, LISTED, END] = [0x04034b50, 0x02014b50, 0x06054b50];
const DAMAGED = "is damaged: copy or download it again";

async function bytesAt(blob, begin, size) {
  if (begin + size > blob.size) throw new Refused(DAMAGED);
  return new DataView(await blob.slice(begin, begin + size).arrayBuffer());
}

async function isZip(blob) {
  return blob.size >= 22 && (await bytesAt(blob, 0, 4)).getUint32(0, true) === LOCAL;
}

/** Return the members of a zip file: name, place, sizes. */
async function membersOf(blob) {
  const tail = Math.min(blob.size, 65_557), end = await bytesAt(blob, blob.size - tail, tail);
  let at = tail - 22;
  while (at >= 0 && end.getUint32(at, true) !== END) at--;
  if (at < 0) throw new Refused(DAMAGED);
  const count = end.getUint16(at + 10, true), size = end.getUint32(at + 12, true), begin = end.getUint32(at + 16, true);
  if (count > MEMBERS || size > LARGEST || begin === 0xffffffff) throw new Refused("is too large for this page");
  const list = await bytesAt(blob, begin, size), found = [];
  for (let place = 0; found.length < count;) {
    if (place + 46 > size || list.getUint32(place, true) !== LISTED) throw new Refused(DAMAGED);
    const [name, extra, comment] = [28, 30, 32].map((field) => list.getUint16(place + field, true));
    if (place + 46 + name > size) throw new Refused(DAMAGED);
    found.push({
      name: new TextDecoder().decode(new Uint8Array(list.buffer, place + 46, name)),
      flags: list.getUint16(place + 8, true), method: list.getUint16(place + 10, true), sum: list.getUint32(place + 16, true),
      packed: list.getUint32(place + 20, true), size: list.getUint32(place + 24, true), place: list.getUint32(place + 42, true),
    });
    place += 46 + name + extra + comment;
  }
  return found;
}

/** Return the content of a member, as a Blob; its bytes are counted while they are unpacked. */
async function contentOf(blob, member) {
  if (member.flags & 1) throw new Refused("is encrypted");
  if (member.size > LARGEST) throw new Refused(`unpacks to more than ${LARGEST / 1e6} MB`);
  const head = await bytesAt(blob, member.place, 30);
  if (head.getUint32(0, true) !== LOCAL) throw new Refused(DAMAGED);
  const begin = member.place + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const packed = blob.slice(begin, begin + member.packed);
  if (member.method !== 0 && member.method !== 8) throw new Refused("is packed in a way that browsers do not read");
  let whole = packed;
  if (member.method === 8) {
    try { whole = await unpacked(packed, "deflate-raw", member.size); } catch { throw new Refused(DAMAGED); }
  }
  if (whole.size !== member.size || (await sumOf(whole)) !== member.sum) throw new Refused(DAMAGED);
  return whole;
}

const SUMS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

/** Return the CRC-32 of a Blob. */
async function sumOf(blob) {
  let sum = 0xffffffff;
  for (let at = 0; at < blob.size; at += 1 << 22) {
    for (const byte of new Uint8Array(await blob.slice(at, at + (1 << 22)).arrayBuffer())) sum = (sum >>> 8) ^ SUMS[(sum ^ byte) & 255];
  }
  return (sum ^ 0xffffffff) >>> 0;
}
