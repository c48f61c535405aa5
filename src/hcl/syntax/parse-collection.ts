// Lists, objects, and both made by `for`.
import type { Expression, ForNode, NameNode, ObjectEntryNode } from './nodes.ts'
import type { SyntaxReader } from './syntax-reader.ts'

/** `[…]`: newlines have no meaning in it. */
export function parseBrackets(reader: SyntaxReader): Expression {
  const { range: start } = reader.next()
  const read = reader.enclosed({ close: ']', after: 'to close the list' }, () => {
    if (reader.isWord('for')) return parseFor(reader, false)
    const items: Expression[] = []
    while (!reader.is(']')) {
      items.push(reader.expression())
      if (!reader.take(',') && !reader.is(']')) throw reader.unexpected(', or ] after the item')
    }
    return { kind: 'list', items } as const
  })
  return { ...read, range: reader.rangeFrom(start) }
}

/** `{…}`: each entry ends with a comma or its line; a `for` may have several lines. */
export function parseBraces(reader: SyntaxReader): Expression {
  const { range: start } = reader.next()
  const isFor = reader.nested(() => reader.isWord('for'), true)
  const read = reader.enclosed(
    { close: '}', after: 'to close the object', skipsNewlines: isFor },
    () =>
      isFor
        ? parseFor(reader, true)
        : ({ kind: 'object', entries: [...parseEntries(reader)] } as const),
  )
  return { ...read, range: reader.rangeFrom(start) }
}

function* parseEntries(reader: SyntaxReader): Generator<ObjectEntryNode> {
  for (reader.skipNewlines(); !reader.is('}'); reader.skipNewlines()) {
    const key = parseKey(reader)
    if (!reader.take('=') && !reader.take(':')) throw reader.unexpected('= after the key')
    yield { key, value: reader.expression() }
    if (reader.take(',') || reader.peek().kind === 'newline') continue
    if (!reader.is('}')) throw reader.unexpected('a comma, a new line or } after the value')
  }
}

/** A name stands for itself: `{ a = 1 }`. A key in parentheses is computed. */
function parseKey(reader: SyntaxReader): Expression {
  const { kind, text, range } = reader.peek()
  const after = reader.peek(1)
  if (kind !== 'identifier' || after.kind !== 'symbol' || !'=:'.includes(after.text))
    return reader.expression()
  reader.next()
  return { kind: 'template', parts: [{ kind: 'text', text, range }], range }
}

function parseFor(reader: SyntaxReader, isObject: boolean): Omit<ForNode, 'range'> {
  reader.next()
  const { keyName, valueName, collection } = parseForIntro(reader)
  reader.expect(':', 'before the value of each item')
  const first = reader.expression()
  const arrow = isObject ? reader.expect('=>', 'between key and value of each entry') : undefined
  const value = arrow === undefined ? first : reader.expression()
  const grouped = isObject && reader.take('...')
  const hasCondition = reader.isWord('if')
  if (hasCondition) reader.next()
  const condition = hasCondition ? reader.expression() : undefined
  const key = arrow === undefined ? undefined : first
  return { kind: 'for', keyName, valueName, collection, key, value, condition, grouped }
}

type ForIntro = {
  readonly keyName: NameNode | undefined
  readonly valueName: NameNode
  readonly collection: Expression
}

/** `k, v in collection`, of an expression and of a template. */
export function parseForIntro(reader: SyntaxReader): ForIntro {
  const first = reader.expectName('the name of each item after for')
  const second = reader.take(',') ? reader.expectName('the name of each value') : undefined
  if (!reader.isWord('in')) throw reader.unexpected('in and a list or an object')
  reader.next()
  return {
    keyName: second === undefined ? undefined : first,
    valueName: second ?? first,
    collection: reader.expression(),
  }
}
