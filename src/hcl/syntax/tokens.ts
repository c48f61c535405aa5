// Tokens of the language, in the order of the text. Comments and blanks are no tokens; the newline after a line comment is.
import type { TextRange } from '#hcl/source-text.ts'

export type TokenKind =
  | 'identifier'
  | 'number'
  | 'symbol'
  | 'newline'
  /** `"`, or `<<NAME` with the newline after it. */
  | 'template open'
  /** A stretch of a template, up to the end of its line. */
  | 'template text'
  /** `${` or `${~` */
  | 'interpolation open'
  /** `%{` or `%{~` */
  | 'directive open'
  /** The `}` or `~}` of one of both. */
  | 'sequence close'
  | 'template close'
  | 'end of file'

export type SyntaxToken = {
  readonly kind: TokenKind
  readonly range: TextRange
  /** As it stands in the file; of a template text with its escapes resolved. */
  readonly text: string
}
