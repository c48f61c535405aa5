// The text of a statement without its constants. pg_stat_statements keeps a text as it was written where a statement was
// prepared, and its entry was dropped before it runs again.

const COMMENT_BEGIN = '/*'
/** Comments, quoted names, strings, names, parameters and numbers, by PostgreSQL's rules (chapter 4.1 of its manual). */
const TOKENS =
  /--[^\n\r]*|\/\*|"(?:[^"]|"")*(?:"|$)|[eE]'(?:[^'\\]|\\[^]|'')*(?:'|$)|'(?:[^']|'')*(?:'|$)|\$(?<tag>(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?)\$[^]*?(?:\$\k<tag>\$|$)|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|\$\d+|\.?\d[\w.]*/g
const IS_CONSTANT = /^(?:[eE]?'|\$(?!\d+$)|\.?\d)/
/** The session may have taken a quote behind it for a part of the string (standard_conforming_strings). */
const IS_DOUBTFUL = /^'[^]*\\/

/** Constants become `?`; parameters such as $1 stay. */
export function withoutConstants(sql: string): string {
  let text = ''
  let at = 0
  const tokens = new RegExp(TOKENS)
  for (let found = tokens.exec(sql); found !== null; found = tokens.exec(sql)) {
    const [token] = found
    text += sql.slice(at, found.index)
    if (token === COMMENT_BEGIN) tokens.lastIndex = commentEnd(sql, found.index)
    at = tokens.lastIndex
    text += IS_CONSTANT.test(token) ? '?' : sql.slice(found.index, at)
    if (IS_DOUBTFUL.test(token)) return text
  }
  return text + sql.slice(at)
}

/** Comments may be nested. */
function commentEnd(sql: string, begin: number): number {
  const marks = /\/\*|\*\//g
  marks.lastIndex = begin
  let depth = 0
  for (let mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === COMMENT_BEGIN ? 1 : -1
    if (depth === 0) return marks.lastIndex
  }
  return sql.length
}
