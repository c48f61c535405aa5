// Copying: the result stands where the button was, and a polite region says it.
import { useEffect, useState } from 'react'

const SHOWN_MS = 2_000

type Result = 'no' | 'copied' | 'refused'

function useCopy(): readonly [Result, (text: string) => void] {
  const [result, setResult] = useState<Result>('no')
  useEffect(() => {
    if (result === 'no') return undefined
    const timer = setTimeout(() => setResult('no'), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [result])
  const copy = (text: string) => {
    navigator.clipboard.writeText(text).then(
      () => setResult('copied'),
      () => setResult('refused'),
    )
  }
  return [result, copy]
}

const WORDS: Readonly<Record<Result, string | undefined>> = {
  no: undefined,
  copied: 'Copied',
  refused: 'Not allowed',
}

/** A button that copies `text`. */
export function Copy(props: {
  readonly text: string
  readonly label?: string
  readonly className?: string
}) {
  const { text, label = 'Copy', className = 'btn' } = props
  const [result, copy] = useCopy()
  return (
    <button type="button" className={className} onClick={() => copy(text)}>
      <span aria-live="polite">{WORDS[result] ?? label}</span>
    </button>
  )
}

/** A command or a secret, with Copy beside it. */
export const Command = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <div className="command">
    {/* A keyboard scrolls what is wider than the box. */}
    {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
    <pre tabIndex={0} aria-label={label}>
      {text}
    </pre>
    <Copy text={text} className="" />
  </div>
)
