// The text of a file, and the place of an offset in it. Nodes have offsets; lines are counted when a message is printed.

/** Offsets in UTF-16 units: `start` is the first character, `end` is the one after the last. */
export type TextRange = { readonly start: number; readonly end: number }
/** Line and column from 1; the column counts characters, not bytes. */
export type TextPlace = { readonly line: number; readonly column: number }

export class SourceText {
  readonly name: string
  readonly text: string
  readonly #lineStarts: number[] = [0]

  constructor(name: string, text: string) {
    this.name = name
    // A byte-order mark has no column.
    this.text = text.replace(/^\u{FEFF}/u, '')
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1))
      this.#lineStarts.push(at + 1)
  }

  placeOf(offset: number): TextPlace {
    const line = this.#lineIndexOf(offset)
    const before = this.text.slice(this.#lineStarts[line], offset)
    return { line: line + 1, column: [...before].length + 1 }
  }

  lineNumberOf(offset: number): number {
    return this.#lineIndexOf(offset) + 1
  }

  /** The text of the line that has the offset, without its end. */
  lineOf(offset: number): string {
    const line = this.#lineIndexOf(offset)
    const end = this.#lineStarts[line + 1] ?? this.text.length + 1
    return this.text.slice(this.#lineStarts[line], end - 1).replace(/\r$/, '')
  }

  #lineIndexOf(offset: number): number {
    let [low, high] = [0, this.#lineStarts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#lineStarts[middle] ?? 0) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}
