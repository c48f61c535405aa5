// The conversation: one answer at a time, which can be stopped. It stops when the page is left: nobody reads on.
import { useCallback, useEffect, useRef, useState } from 'react'
import { streamChat, type ChatBody } from '#console/chat/stream.ts'
import { afterEvent, asked, type Turn } from './turn.ts'

export type ChatSettings = {
  readonly model: string
  readonly tokensMax: number
  readonly temperature: number
}

export function useChat(settings: ChatSettings) {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const running = useRef<AbortController>(undefined)
  const change = useCallback((next: (turn: Turn) => Turn) => {
    setTurns((all) => all.map((turn, nth) => (nth === all.length - 1 ? next(turn) : turn)))
  }, [])
  useEffect(() => () => running.current?.abort(), [])
  const ask = (question: string) => {
    const ending = new AbortController()
    running.current = ending
    setTurns([...turns, asked(question, settings.tokensMax, performance.now())])
    void follow(bodyOf(turns, question, settings), ending.signal, change)
  }
  return { turns, ask, stop: () => running.current?.abort(), clear: () => setTurns([]) }
}

async function follow(
  body: ChatBody,
  signal: AbortSignal,
  change: (next: (turn: Turn) => Turn) => void,
): Promise<void> {
  const end = (status: Turn['status'], error?: unknown) =>
    change((turn) => ({ ...turn, status, error, endedMs: performance.now() }))
  try {
    const loads = () => change((turn) => ({ ...turn, status: 'loading' }))
    for await (const event of streamChat(body, signal, loads))
      change((turn) => afterEvent(turn, event, performance.now()))
    end('done')
  } catch (error) {
    if (signal.aborted) end('stopped')
    else end('failed', error)
  }
}

export const bodyOf = (
  turns: readonly Turn[],
  question: string,
  { model, tokensMax, temperature }: ChatSettings,
): ChatBody => ({
  model,
  messages: [
    ...turns
      .filter(({ text }) => text !== '')
      .flatMap(({ question: before, text }) => [
        { role: 'user' as const, content: before },
        { role: 'assistant' as const, content: text },
      ]),
    { role: 'user', content: question },
  ],
  max_tokens: tokensMax,
  temperature,
})

const EXAMPLE = 'What is the capital of France?'

/** The request of what is being written, else the last one again, else an example. */
export function nextOf(turns: readonly Turn[], text: string, settings: ChatSettings): ChatBody {
  const written = text.trim()
  if (written !== '') return bodyOf(turns, written, settings)
  return bodyOf(turns.slice(0, -1), turns.at(-1)?.question ?? EXAMPLE, settings)
}
