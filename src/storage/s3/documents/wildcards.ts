// `*` and `?` as policies, CORS rules and conditions use them. Two pointers and one place to go back
// to: at worst length × length steps, where a regular expression made of a tenant's text may take
// exponentially many.

/** Whether the whole text fits the pattern: `*` is any run of characters, `?` any one. */
export function matchesWildcards(pattern: string, text: string): boolean {
  let at = 0
  let star = -1
  let starAt = 0
  let index = 0
  while (index < text.length) {
    const symbol = pattern[at]
    if (symbol === '*') {
      star = at++
      starAt = index
    } else if (symbol === '?' || symbol === text[index]) {
      at++
      index++
    } else if (star >= 0) {
      at = star + 1
      index = ++starAt
    } else return false
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}

/** Whether the text has no wildcard: it can only mean one thing. */
export const isFixed = (text: string): boolean => !/[*?]/.test(text)
