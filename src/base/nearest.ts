// The word that somebody meant who misspelt it.

/** Of more edits than a third of its length, a word was not meant; two letters that changed places are two. */
const LETTERS_PER_EDIT = 3
const EDITS_FREE = 2

/** The word that takes the fewest edits to become, if that is few enough. */
export function nearest(text: string, words: readonly string[]): string | undefined {
  const [first] = words
    .map((word) => ({ word, edits: editsBetween(text, word) }))
    .toSorted((one, other) => one.edits - other.edits)
  const most = Math.max(EDITS_FREE, Math.floor(text.length / LETTERS_PER_EDIT))
  return first !== undefined && first.edits <= most ? first.word : undefined
}

/** Words that a hint looks at, and the letters of the text that was asked for, at most. */
export const NEAR_WORDS_MAX = 500
const ASKED_LETTERS_MAX = 100

/** `did you mean "image"?`, or undefined where no word is near. */
export function didYouMean(text: string, words: readonly string[]): string | undefined {
  const near = nearest(text.slice(0, ASKED_LETTERS_MAX), words.slice(0, NEAR_WORDS_MAX))
  return near === undefined ? undefined : `did you mean "${near}"?`
}

/** Letters to insert, remove or replace (the distance of Levenshtein). */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, place) => place)
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1]
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (letter === other[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row[other.length] ?? 0
}
