// A receipt as an object: a riveted plate with its seal, its sum and four checks made in this browser.
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import type { Charge } from '#contract/ledger/charge.ts'
import { energyExact } from '#console/figures/energy.ts'
import { bandWords, figureOf } from '#console/figures/known.ts'
import { clockExact } from '#console/figures/time.ts'
import { checkReceipt, type Checked } from '#console/proof/check-receipt.ts'
import { forgetHead, forgetPins } from '#console/proof/pins.ts'
import { apiUrl } from '#console/client/api-url.ts'
import { queryClient } from '#console/client/queries.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Copy, LoginLine } from '#console/parts/page/copy.tsx'
import { Icon } from '#console/parts/page/icons.tsx'
import { Known } from '#console/parts/energy/known.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Register } from '#console/parts/energy/register.tsx'
import { saveAs } from '#console/parts/browser/save.ts'
import { Seal } from '#console/parts/ledger/seal.tsx'
import { operationName } from '#console/parts/charts/services.ts'
import { useZone } from '#console/parts/time/zone.ts'
import { checkLines, type CheckLine } from './checks.ts'
import { ReceiptSum } from './receipt-sum.tsx'
import './receipt.css'

const PENDING_MS = 1_000

/** The receipt of a charge; asked for each second until it is signed. */
export function Receipt({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: ['receipt', id],
    queryFn: async ({ signal }) => (await checkReceipt(id, signal)) ?? null,
    staleTime: Infinity,
    refetchInterval: ({ state }) => (state.data === null ? PENDING_MS : false),
  })
  return (
    <Loaded query={query} what="the receipt">
      {(checked) => (checked === null ? <Pending id={id} /> : <Opened id={id} checked={checked} />)}
    </Loaded>
  )
}

function Opened({ id, checked }: { readonly id: string; readonly checked: Checked }) {
  const { verdict, signers } = checked
  const { head } = verdict
  const lines = checkLines(checked)
  const fault = lines.find(({ state }) => state === 'fails')
  if (verdict.charge === undefined && fault === undefined)
    return (
      <Plate label="Receipt that could not be checked">
        <h2>This receipt could not be checked</h2>
        <p className="small">
          The log could not be read to check its key. Nothing speaks against the receipt: ask again
          when the service answers.
        </p>
        <CheckList lines={lines} />
        <AskAgain id={id} />
        <Actions id={id} text={checked.text} />
      </Plate>
    )
  if (verdict.charge === undefined || fault !== undefined)
    return (
      <Plate label="Receipt that does not hold">
        <h2 className="bad">Do not trust this receipt</h2>
        <CheckList lines={lines} />
        {verdict.refusedKey !== undefined && (
          <OtherService id={id} what="key" forget={() => forgetPins(localStorage)} />
        )}
        {verdict.failed?.check === 'history' && head !== undefined && (
          <OtherService
            id={id}
            what="history"
            forget={() => forgetHead(head.origin, localStorage)}
          />
        )}
        <Actions id={id} text={checked.text} />
      </Plate>
    )
  return (
    <Plate label="Receipt">
      <div className="top">
        <Top charge={verdict.charge} />
        <Seal hash={verdict.leafHash} signers={signers.count} signed={signers.threshold} />
      </div>
      <ReceiptSum charge={verdict.charge} />
      <CheckList lines={lines} />
      {verdict.uncompared !== undefined && <AskAgain id={id} />}
      <Actions id={id} text={checked.text} />
    </Plate>
  )
}

const checkAgain = (id: string) => queryClient.refetchQueries({ queryKey: ['receipt', id] })

const AskAgain = ({ id }: { readonly id: string }) => (
  <button type="button" className="btn small" onClick={() => void checkAgain(id)}>
    Ask again
  </button>
)

const WHY_OTHER = {
  key: 'This browser knows another key of the service. A service that was set up anew has a new key, and so has one that somebody stands in for.',
  history:
    'This browser has seen another history of the log. A service that went back to an old copy has another one, and so has one that shows different logs to different readers.',
}

const FORGOTTEN = {
  key: 'The keys and the heads of logs that this browser knows are forgotten.',
  history: 'The head of this log that this browser knows is forgotten. Keys and other heads stay.',
}

/** For a service that was set up anew, or went back to an old copy. */
function OtherService({
  id,
  what,
  forget,
}: {
  readonly id: string
  readonly what: keyof typeof WHY_OTHER
  readonly forget: () => void
}) {
  const [isOpen, setOpen] = useState(false)
  const trust = async () => {
    forget()
    await checkAgain(id)
  }
  return (
    <>
      <p className="small">{WHY_OTHER[what]}</p>
      <button type="button" className="btn small" onClick={() => setOpen(true)}>
        Trust the new {what}
      </button>
      {isOpen && (
        <Confirm
          title={`Trust the new ${what}`}
          verb="Trust it"
          onClose={() => setOpen(false)}
          act={trust}
        >
          Ask the operator first, by another way than this page: whoever has the key can make
          receipts that hold. {FORGOTTEN[what]}
        </Confirm>
      )}
    </>
  )
}

function Top({ charge }: { readonly charge: Charge }) {
  const zone = useZone()
  const figure = figureOf(charge.parts)
  const [low, high] = bandWords(figure)
  return (
    <div data-copy={energyExact(figure.nj)}>
      <h2 className="small muted">
        Receipt, {operationName(charge.operation)}, {clockExact(new Date(charge.to), zone)}
      </h2>
      <Register figure={figure} size="receipt-size" unit="J" />
      <p className="small">
        <Known figure={figure} />
      </p>
      {low !== high && (
        <p className="small muted">
          between {low} and {high} J
        </p>
      )}
    </div>
  )
}

const Pending = ({ id }: { readonly id: string }) => (
  <Plate label="Receipt, being signed">
    <div className="top">
      <div>
        <h2>Being signed</h2>
        <p className="small">The charge is on the ledger. Its seal comes within about a second.</p>
      </div>
      <Seal hash={undefined} signers={5} signed={0} />
    </div>
    <p className="id tiny">{id}</p>
  </Plate>
)

const Plate = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <article className="receipt" aria-label={label}>
    <span className="rivets" aria-hidden="true">
      <i />
      <i />
      <i />
      <i />
    </span>
    {children}
  </article>
)

const CheckList = ({ lines }: { readonly lines: readonly CheckLine[] }) => (
  <ul className="checks">
    {lines.map(({ name, state, rest }) => (
      <li key={name} className={state}>
        <Icon
          name={state === 'holds' ? 'holds' : state === 'fails' ? 'fails' : 'waits'}
          weight={2.2}
        />
        <span>
          <b>{name}</b>
          {rest}
        </span>
      </li>
    ))}
  </ul>
)

const Actions = ({ id, text }: { readonly id: string; readonly text: string }) => (
  <>
    <div className="tools">
      <button
        type="button"
        className="btn small primary"
        onClick={() => saveAs(`${id}.tlog-proof`, 'text/plain', text)}
      >
        Download proof
      </button>
      <Copy
        text={`ergon receipt verify ${id} --base-url ${apiUrl()}`}
        label="Copy verify command"
        className="btn small"
      />
    </div>
    <LoginLine />
    <p className="id tiny">{id}</p>
  </>
)
