// What runs at the moment, where each request brings something new.
//
// Not a Set, for V8's collector: when the table of a Set is full of what has left, another takes its place
// and the old one links to it, with what was running then still inside. Once one of these tables counts as
// old, it keeps all that follow until the whole heap is collected. Under chat completions a collection of the
// young took 28 ms and kept 6.5 of 38 MB; with bags 5 ms, and nothing of what was answered.

/** `place` is the bag's own; a thing can be in one bag at a time. */
export type Bagged = { place: number }

const NOWHERE = -1

export class Bag<T extends Bagged> implements Iterable<T> {
  readonly #things: T[] = []

  get size(): number {
    return this.#things.length
  }

  /** For what is not in a bag yet. */
  add(thing: T): void {
    thing.place = this.#things.length
    this.#things.push(thing)
  }

  /** Nothing happens when it is not in this bag. */
  delete(thing: T): void {
    const { place } = thing
    if (this.#things[place] !== thing) return
    const last = this.#things.pop()
    if (last !== undefined && last !== thing) {
      this.#things[place] = last
      last.place = place
    }
    thing.place = NOWHERE
  }

  /** In no order, and all that were there at the begin: they may leave meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#things].values()
  }
}
