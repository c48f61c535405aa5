// The versions that are kept; each that could be started can answer again.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import { bytesShort } from '#console/figures/amounts.ts'
import { Confirm } from '#console/parts/confirm.tsx'
import { Section } from '#console/parts/section.tsx'
import { StateWord } from '#console/parts/state-word.tsx'
import { actions, Table, type Column } from '#console/parts/table.tsx'
import { When } from '#console/parts/when.tsx'
import { isBeingTried, type Deployed, type Version } from './function.ts'
import { functionsChanged } from './use-functions.ts'

export function Versions({ one }: { readonly one: Deployed }) {
  const [chosen, setChosen] = useState<number>()
  const back = actions<Version>(({ version, failure }) =>
    version === one.live_version || failure !== null ? null : (
      <button
        type="button"
        className="btn small"
        aria-label={`Roll back to version ${version}`}
        onClick={() => setChosen(version)}
      >
        Roll back
      </button>
    ),
  )
  return (
    <Section title="Versions" aside="the newest ten are kept">
      <Table
        rows={one.versions}
        keyOf={({ version }) => String(version)}
        columns={[...columnsOf(one), back]}
      />
      {chosen !== undefined && (
        <Confirm
          title={`Roll ${one.name} back to version ${chosen}`}
          verb="Roll it back"
          onClose={() => setChosen(undefined)}
          act={async () => {
            const path = { function: one.id }
            await call('POST /v1/functions/:function/rollback', { path, body: { version: chosen } })
            await functionsChanged()
          }}
        >
          Once version {chosen} is loaded, it answers with its own code, variables and route. Until
          then {one.live_version === null ? 'nothing answers' : `${one.live_version} does`}.
        </Confirm>
      )}
    </Section>
  )
}

const columnsOf = (one: Deployed): readonly Column<Version>[] => [
  {
    title: 'Version',
    className: 'wrap-anywhere',
    cell: (row) => (
      <>
        <b>{row.version}</b> <span className="id">{row.file}</span>
        <span className="under">{stateOf(one, row).word}</span>
        {row.failure !== null && <span className="tiny reason">{row.failure}</span>}
      </>
    ),
  },
  { title: 'State', className: 'wide-only', cell: (row) => <StateWord {...stateOf(one, row)} /> },
  { title: 'Deployed', className: 'wide-only', cell: ({ created_at }) => <When at={created_at} /> },
  {
    title: 'Memory',
    className: 'num wide-only',
    cell: ({ memory_bytes }) => bytesShort(BigInt(memory_bytes)),
  },
]

function stateOf(one: Deployed, { version, failure }: Version) {
  if (version === one.live_version) return { tone: 'ok', word: 'Answers' } as const
  if (failure !== null) return { tone: 'bad', word: 'Could not start' } as const
  return version === one.version && isBeingTried(one)
    ? ({ tone: 'muted', word: 'Is tried' } as const)
    : ({ tone: 'muted', word: 'Kept' } as const)
}
