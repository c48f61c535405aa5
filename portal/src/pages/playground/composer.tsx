// The message, and the button that spends: what it can cost at most stands in the meter beside it.
import { useEffect, useRef, type KeyboardEvent } from 'react'

export function Composer(props: {
  readonly isRunning: boolean
  readonly onAsk: (question: string) => void
  readonly onStop: () => void
}) {
  const { isRunning, onAsk, onStop } = props
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (!isRunning) return undefined
    const stop = ({ key }: globalThis.KeyboardEvent) => {
      if (key === 'Escape') onStop()
    }
    document.addEventListener('keydown', stop)
    return () => document.removeEventListener('keydown', stop)
  }, [isRunning, onStop])
  const ask = () => {
    const question = field.current?.value.trim() ?? ''
    if (question === '' || isRunning) return
    onAsk(question)
    if (field.current !== null) field.current.value = ''
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
        ref={field}
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
          {isRunning
            ? 'Stop now and you pay for what came.'
            : 'The most that an answer can cost stands in its head, before the first word.'}
        </span>
      </div>
    </form>
  )
}
