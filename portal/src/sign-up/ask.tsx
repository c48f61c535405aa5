// Step 5: the first request, from a terminal or from here. Its joules appear in this place, whoever sent it.
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { codeOf, type Language } from '#console/chat/code.ts'
import { costOf, type Cost } from '#console/chat/cost.ts'
import { FIRST_QUESTION } from '#console/chat/first-question.ts'
import { onceLoaded } from '#console/chat/once-loaded.ts'
import { send } from '#console/client/call.ts'
import { apiUrl } from '#console/client/api-url.ts'
import { howOf } from '#console/figures/known.ts'
import { asMuchAs } from '#console/figures/as-much-as.ts'
import { carbonShort } from '#console/figures/carbon.ts'
import { useLive } from '#console/live/use-live.ts'
import { Command } from '#console/parts/page/copy.tsx'
import { ProblemNote } from '#console/parts/page/loaded.tsx'
import { Register } from '#console/parts/energy/register.tsx'
import { Strip } from '#console/parts/charts/strip.tsx'
import { useAction } from '#console/parts/forms/use-action.ts'
import { saveStep } from './progress.ts'

const LANGUAGES = Object.keys(codeOf) as readonly Language[]

type Answered = { readonly cost: Cost; readonly text: string | undefined }

export function Ask({
  token,
  onDone,
}: {
  readonly token: string | undefined
  readonly onDone: () => void
}) {
  const [here, setHere] = useState<Answered>()
  const elsewhere = useFirstAnswer()
  const [isLoading, setLoading] = useState(false)
  const ending = useEnding()
  const action = useAction(async () => {
    const response = await onceLoaded(
      (signal) => send('POST /v1/chat/completions', { body: FIRST_QUESTION, signal }),
      { ending, loads: () => setLoading(true) },
    ).finally(() => setLoading(false))
    const answer = (await response.json()) as {
      readonly choices: readonly { readonly message: { readonly content: string | null } }[]
    }
    const cost = costOf(response.headers)
    if (cost !== undefined) setHere({ cost, text: answer.choices[0]?.message.content ?? undefined })
  })
  const answered = here ?? elsewhere
  if (answered !== undefined) return <Shown answered={answered} onDone={onDone} />
  return (
    <>
      <h1>Ask something</h1>
      <Code token={token} />
      {isLoading && (
        <p className="small" role="status">
          The model is loading, as after each start. It is asked again by itself.
        </p>
      )}
      {action.error !== undefined && <ProblemNote error={action.error} />}
      <div className="tools">
        <button type="button" className="btn primary" disabled={action.isBusy} onClick={action.run}>
          Ask from here
        </button>
        <button type="button" className="btn" onClick={onDone}>
          Later
        </button>
      </div>
      <Strip njPerS={undefined} />
    </>
  )
}

/** A signal that ends when the step is left. */
function useEnding(): () => AbortSignal {
  const ending = useRef(new AbortController())
  useEffect(() => {
    // In strict mode an effect runs twice.
    ending.current = new AbortController()
    return () => ending.current.abort()
  }, [])
  return () => ending.current.signal
}

/** The newest answer of a model that the live stream told: somebody used the token elsewhere. Refusals are charged too. */
function useFirstAnswer(): Answered | undefined {
  const charge = useLive(({ charges }) =>
    charges.find(({ operation, status }) => operation === 'chat.create' && status === undefined),
  )
  if (charge === undefined) return undefined
  const figure = {
    nj: BigInt(charge.energy_nj),
    ...howOf(charge),
  }
  return { cost: { figure, pg: 0n, receiptId: charge.id }, text: undefined }
}

function Code({ token }: { readonly token: string | undefined }) {
  const [language, setLanguage] = useState<Language>('curl')
  return (
    <div className="stack">
      <div className="tools" role="group" aria-label="Language">
        {LANGUAGES.map((name) => (
          <button
            key={name}
            type="button"
            className="btn small"
            aria-pressed={name === language}
            onClick={() => setLanguage(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <Command
        text={codeOf[language]({ apiUrl: apiUrl(), token, body: FIRST_QUESTION })}
        label="Request"
      />
    </div>
  )
}

function Shown({
  answered: { cost, text },
  onDone,
}: {
  readonly answered: Answered
  readonly onDone: () => void
}) {
  const { figure, pg, receiptId } = cost
  return (
    <>
      <Register figure={figure} size="middle" />
      <Strip njPerS={0n} moved={figure.nj} />
      {text !== undefined && <p className="wrap-anywhere">“{text.trim()}”</p>}
      <p className="small">
        {pg > 0n && `${carbonShort(pg)}, `}as much as {asMuchAs(figure.nj)}. The same number stands
        in the header <code className="nowrap">X-Energy-Joules</code> and on the ledger.
      </p>
      <div className="tools">
        <Link className="btn primary" to={`/ledger/${receiptId}`} onClick={() => saveStep('done')}>
          See its receipt
        </Link>
        <button type="button" className="btn" onClick={onDone}>
          Go to the overview
        </button>
      </div>
    </>
  )
}
