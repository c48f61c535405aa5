// Secrets of ours in text that others wrote (an upstream's error, an address, a header): they are found by
// their form, as sent or percent-encoded, once or more often. Access keys of S3 are tokens too.

const SYMBOL = '(?:[0-9a-z]|%(?:25)*(?:3[0-9]|[46][1-9a-f]|[57][0-9a]))'
const encodable = (letters: string): string =>
  [...letters].map((letter) => `(?:${letter}|%(?:25)*${codesOf(letter)})`).join('')
const codesOf = (letter: string): string =>
  `(?:${[letter, letter.toUpperCase()].map((one) => one.charCodeAt(0).toString(16)).join('|')})`
const FORM = `(${encodable('svc')}|${encodable('inv')}|${encodable('whsec')})(_|%(?:25)*5f)${SYMBOL}`

/** A function that replaces texts of a token's form, with that number of characters after the prefix, by `svc_***`. */
export function tokenMask(charactersMin: number): (text: string) => string {
  const form = new RegExp(`${FORM}{${charactersMin},}`, 'gi')
  return (text) => text.replace(form, '$1$2***')
}

/**
 * A function that returns the decoded texts that the mask hides: the prefix with that number of characters after it.
 * It gives each as often as it stands there.
 */
export function tokenFinder(characters: number): (text: string) => Iterable<string> {
  const form = new RegExp(`${FORM}{${characters}}`, 'gi')
  return (text) => text.matchAll(form).map(([found]) => found.replace(CODE, decoded))
}

const CODE = /%(?:25)*([0-9a-f]{2})/gi
const decoded = (_all: string, code: string): string =>
  String.fromCharCode(Number.parseInt(code, 16))
