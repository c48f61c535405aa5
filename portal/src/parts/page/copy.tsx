// Copying: the result stands where the button was, and a polite region says it.
import { useEffect, useState, type ReactNode } from 'react'
import type { Scope } from '#contract/operation.ts'
import { apiUrl } from '#console/client/api-url.ts'
import { commandPlace, type CommandPlace } from './command-place.ts'

const SHOWN_MS = 2_000

type Result = 'no' | 'copied' | 'refused'
/** A function asks for a secret when it is copied, so that no page holds it. */
type Copied = string | (() => Promise<string>)

function useCopy(): readonly [Result, (text: Copied) => void] {
  const [result, setResult] = useState<Result>('no')
  useEffect(() => {
    if (result === 'no') return undefined
    const timer = setTimeout(() => setResult('no'), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [result])
  const copy = (text: Copied) => {
    write(text).then(
      () => setResult('copied'),
      () => setResult('refused'),
    )
  }
  return [result, copy]
}

/** Browsers allow it from a click on, so the promise is handed over before it is kept. */
function write(text: Copied): Promise<void> {
  if (typeof text === 'string') return navigator.clipboard.writeText(text)
  return navigator.clipboard.write([new ClipboardItem({ 'text/plain': text() })])
}

const WORDS: Readonly<Record<Result, string | undefined>> = {
  no: undefined,
  copied: 'Copied',
  refused: 'Not allowed',
}

/** A button that copies `text`. */
export function Copy(props: {
  readonly text: Copied
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

/** A command or a secret, with Copy beside it. A command of `ergon` says what a fresh terminal needs. */
export const Command = (props: {
  readonly text: string
  readonly label: string
  /** In place of the one button, which copies the text. */
  readonly children?: ReactNode
}) => (
  <div className="command-box">
    <div className="command">
      {/* A keyboard scrolls what is wider than the box. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} aria-label={props.label}>
        {props.text}
      </pre>
      {props.children ?? <Copy text={props.text} className="" />}
    </div>
    <Needed place={commandPlace(props.text)} />
  </div>
)

/** The command of a login. It names a scope where it needs more than the page of the approval proposes by itself. */
export const loginCommand = (scope?: Scope): string =>
  [`ergon login --base-url ${apiUrl()}`, ...(scope === undefined ? [] : ['--scope', scope])].join(
    ' ',
  )

function Needed({ place }: { readonly place: CommandPlace | undefined }) {
  if (place === undefined) return null
  return place === 'machine' ? (
    <p className="small muted">On the machine of the service, in the folder where .ergon is.</p>
  ) : (
    <LoginLine scope={place.login} />
  )
}

/** The login that a command needs once, for a page that copies a command unseen too. */
export const LoginLine = ({ scope }: { readonly scope?: Scope | undefined }) => (
  <p className="small muted">
    In a new terminal, once: <code className="wrap-anywhere">{loginCommand(scope)}</code>{' '}
    <Copy text={loginCommand(scope)} label="Copy the login" className="linked" />
  </p>
)
