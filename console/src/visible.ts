/** Recorded text as it is shown: nothing in it is hidden, and nothing changes what stands around it. */

/**
 * Characters that cannot be seen, or that turn the direction of what is around them: they would show `exe.png` where
 * `gnp.exe` stands. They are those that the terminal's pages write out, too.
 */
const HIDDEN =
  /(?![\t\n])\p{Cc}|[\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** The token in the place of a secret. */
const TOKEN = /\[\[secret:[^[\]\s]{1,60}\]\]/g;

/** A text with signs for what cannot be seen, and secrets in a word. */
export function visible(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(TOKEN, "(secret)").replace(HIDDEN, sign);
}

function sign(hidden: string): string {
  const code = hidden.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? "␡" : `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
