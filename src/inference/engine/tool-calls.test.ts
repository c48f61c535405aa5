import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  createCallReader,
  createForcedCallReader,
  type ToolCallPart,
  type PartReader,
} from './tool-calls.ts'

/** Feeds a text in pieces of every length and joins neighbouring parts. */
function readAll(create: () => PartReader, text: string): ToolCallPart[][] {
  return Array.from({ length: text.length }, (_, index) => {
    const reader = create()
    const parts: ToolCallPart[] = []
    for (let at = 0; at < text.length; at += index + 1)
      parts.push(...reader.push(text.slice(at, at + index + 1)))
    parts.push(...reader.end())
    return joined(parts)
  })
}

function joined(parts: readonly ToolCallPart[]): ToolCallPart[] {
  const out: ToolCallPart[] = []
  for (const part of parts) {
    const last = out.at(-1)
    if (part.kind !== 'call' && last !== undefined && last.kind === part.kind)
      out[out.length - 1] = { kind: part.kind, text: last.text + part.text }
    else out.push(part)
  }
  return out
}

const call = (name: string, text: string): ToolCallPart[] => [
  { kind: 'call', name },
  { kind: 'arguments', text },
]

describe('createCallReader()', () => {
  const expectParts = (text: string, parts: ToolCallPart[]) => {
    for (const got of readAll(createCallReader, text)) assert.deepEqual(got, parts)
  }

  it('reads calls between texts, however they are split', () => {
    expectParts(
      'Look:\n<tool_call>\n{"name": "a", "arguments": {"x": 1}}\n</tool_call>\n<tool_call>{"name":"b","arguments":{}}</tool_call>\n',
      [{ kind: 'text', text: 'Look:' }, ...call('a', '{"x":1}'), ...call('b', '{}')],
    )
  })

  it('keeps every space of a text without calls', () => {
    expectParts('a \n\n b < c <tool  \n', [{ kind: 'text', text: 'a \n\n b < c <tool  \n' }])
  })

  it('takes a call whose end mark the model left out', () => {
    expectParts('<tool_call>\n{"name": "a", "arguments": {}}', call('a', '{}'))
  })

  it('leaves an invalid call in the text', () => {
    const text = '<tool_call>{"name": </tool_call>'
    expectParts(text, [{ kind: 'text', text }])
  })
})

describe('createForcedCallReader()', () => {
  it('passes arguments on and ends with them', () => {
    const text = ' { "name": "get_\\"x\\"", "arguments": {"a": "}", "b": [1, {"c": 2}]} }\n\n\n'
    for (const got of readAll(createForcedCallReader, text))
      assert.deepEqual(got, call('get_"x"', '{"a": "}", "b": [1, {"c": 2}]}'))
  })

  it('gives arguments before they are complete', () => {
    const reader = createForcedCallReader()
    reader.push('{"name": "f", "arguments": ')
    assert.deepEqual(reader.push('{"city": "Os'), call('f', '{"city": "Os'))
  })
})
