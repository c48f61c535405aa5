// The message, and beside the button that spends the most that its answer can cost.
import { useEffect, type KeyboardEvent } from 'react'
import type { ChatBody } from '#console/chat/stream.ts'
import { useUnit } from '#console/live/use-unit.ts'
import { ceilingWords } from './ceiling-words.ts'
import { useCeiling } from './use-ceiling.ts'

export function Composer(props: {
  readonly isRunning: boolean
  readonly text: string
  readonly onText: (text: string) => void
  /** The request that a message makes. */
  readonly bodyOf: (question: string) => ChatBody
  readonly onAsk: (question: string) => void
  readonly onStop: () => void
}) {
  const unit = useUnit()
  const { isRunning, text, onText, bodyOf, onAsk, onStop } = props
  const question = text.trim()
  const ceiling = useCeiling(question === '' || isRunning ? undefined : bodyOf(question))
  useEffect(() => {
    if (!isRunning) return undefined
    const stop = ({ key }: globalThis.KeyboardEvent) => {
      if (key === 'Escape') onStop()
    }
    document.addEventListener('keydown', stop)
    return () => document.removeEventListener('keydown', stop)
  }, [isRunning, onStop])
  const ask = () => {
    if (question === '' || isRunning) return
    onAsk(question)
    onText('')
  }
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    ask()
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        ask()
      }}
    >
      <label className="spoken" htmlFor="message">
        Message
      </label>
      <textarea
        id="message"
        className="field"
        placeholder="Ask something"
        value={text}
        onChange={({ target }) => onText(target.value)}
        onKeyDown={press}
      />
      <div className="tools">
        {isRunning ? (
          <button type="button" className="btn" onClick={onStop}>
            Stop <kbd>esc</kbd>
          </button>
        ) : (
          <button type="submit" className="btn primary">
            Send <kbd>enter</kbd>
          </button>
        )}
        <span className="small muted">
          {isRunning ? 'Stop now and you pay for what came.' : ceilingWords(ceiling, unit)}
        </span>
      </div>
    </form>
  )
}
