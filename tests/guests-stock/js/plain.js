// Untyped component in JavaScript: plain functions with their own WIT interface, without Latchwork.
export const words = {
  count(text, longerThan) {
    const times = new Map();
    for (const word of text.split(/\s+/).filter((word) => word.length > (longerThan ?? 0))) {
      times.set(word, (times.get(word) ?? 0) + 1);
    }
    return [...times].map(([word, times]) => ({ word, times }));
  },

  number(text) {
    const number = Number(text);
    if (Number.isNaN(number)) throw `${text} is no number`;
    return number;
  },
};
