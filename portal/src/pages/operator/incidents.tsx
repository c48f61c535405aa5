// The incidents of regions: written here, previewed, and shown to everybody by the status page.
import { useState } from 'react'
import { Empty } from '#console/parts/page/empty.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { IncidentForm, type Doing } from './incident-form.tsx'
import { IncidentText, type Incident } from './incident-text.tsx'
import { useIncidents } from './use-operator.ts'

export function Incidents() {
  const query = useIncidents()
  const [doing, setDoing] = useState<Doing>()
  const open = (
    <button type="button" className="btn primary" onClick={() => setDoing({ what: 'open' })}>
      Open an incident
    </button>
  )
  return (
    <>
      {doing !== undefined && <IncidentForm doing={doing} onClose={() => setDoing(undefined)} />}
      <Loaded query={query} what="the list of incidents">
        {({ data }) =>
          data.length === 0 ? (
            <Empty
              title="No incident yet"
              command={'ergon admin incident open <region> "<summary>" --preview'}
              action={open}
            >
              An incident tells everybody on the status page, and each account with something in the
              region once, that the region is degraded.
            </Empty>
          ) : (
            <div className="stack wide">
              <div className="tools">{open}</div>
              {data.map((incident) => (
                <Entry key={incident.id} incident={incident} onDo={setDoing} />
              ))}
            </div>
          )
        }
      </Loaded>
    </>
  )
}

type EntryProps = { readonly incident: Incident; readonly onDo: (doing: Doing) => void }

function Entry({ incident, onDo }: EntryProps) {
  const isOpen = incident.ended_at === null
  const state = isOpen ? (
    <StateWord tone="warn" word="Open" />
  ) : (
    <StateWord tone="muted" word="Closed" />
  )
  return (
    <Section title={incident.summary} aside={state}>
      <IncidentText incident={incident} />
      <div className="tools after">
        <button
          type="button"
          className="btn small"
          onClick={() => onDo({ what: 'update', incident })}
        >
          Add words
        </button>
        {isOpen && (
          <button
            type="button"
            className="btn small"
            onClick={() => onDo({ what: 'close', incident })}
          >
            Close it
          </button>
        )}
      </div>
    </Section>
  )
}
