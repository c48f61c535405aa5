// Markup from text: every value is escaped unless it is markup itself, so no name and no text of the state can become
// an element. The escapes are those of XML, for the feed too.

/** Markup that needs no escaping. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
type Value = string | number | Markup | readonly Markup[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
/** XML 1.0 §2.2 has no place for these, escaped or not. */
// oxlint-disable-next-line no-control-regex
const NO_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu

const escaped = (text: string): string =>
  text.replace(NO_CHARACTER, '').replace(/[&<>"']/g, (one) => ESCAPES[one] ?? '')

const textOf = (value: Value): string => {
  if (value instanceof Markup) return value.text
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value))
  return value.map(({ text }) => text).join('')
}

/** A template of HTML or XML. Attributes must be in quotes. */
export const markup = (parts: TemplateStringsArray, ...values: readonly Value[]): Markup =>
  new Markup(String.raw({ raw: parts }, ...values.map(textOf)))

export const NOTHING = new Markup('')
