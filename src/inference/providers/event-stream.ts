// Server-sent events (WHATWG HTML §9.2.6), fed with bytes as they come.
import { fault } from '#contract/errors.ts'
import { createLineReader } from './lines.ts'

/** A dispatched event, or a comment line (ours carry figures during prefill). */
export type StreamItem =
  | { readonly kind: 'event'; readonly name: string; readonly data: string }
  | { readonly kind: 'comment'; readonly text: string }

export type EventStream = {
  /** The items that these bytes complete, in order. Throws `upstream_failed` beyond a bound. */
  push(bytes: Uint8Array): StreamItem[]
}

const BOM = '\uFEFF'

/**
 * A parser of one stream. An unfinished event at the end of the stream is dropped, as the standard
 * says; `id` and `retry` are read past.
 */
export function createEventStream(limits: { readonly eventBytesMax: number }): EventStream {
  const reader = createLineReader({ lineBytesMax: limits.eventBytesMax })
  let data: string | undefined
  let name = ''
  let isFirst = true

  const addData = (value: string) => {
    data = data === undefined ? value : `${data}\n${value}`
    if (data.length > limits.eventBytesMax)
      throw fault('upstream_failed', `Could not read the upstream: an event of over ${data.length}`)
  }

  const addLine = (line: string, items: StreamItem[]) => {
    if (line === '') {
      if (data !== undefined) items.push({ kind: 'event', name, data })
      data = undefined
      name = ''
      return
    }
    if (line.startsWith('data: ')) return addData(line.slice(6))
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === '') items.push({ kind: 'comment', text: value })
    else if (field === 'event') name = value
    else if (field === 'data') addData(value)
  }

  return {
    push(bytes) {
      const items: StreamItem[] = []
      for (const line of reader.push(bytes)) {
        addLine(isFirst && line.startsWith(BOM) ? line.slice(1) : line, items)
        isFirst = false
      }
      return items
    },
  }
}
