// The alarms: what was found, since when, the command that shows more, and the acknowledgement.
import { useState } from 'react'
import { call } from '#console/client/call.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { rowsOf } from '#console/client/queries.ts'
import { withTouch } from '#console/client/touch.ts'
import { Confirm } from '#console/parts/forms/confirm.tsx'
import { Command } from '#console/parts/page/copy.tsx'
import { Loaded } from '#console/parts/page/loaded.tsx'
import { MoreRows } from '#console/parts/page/more-rows.tsx'
import { Section } from '#console/parts/page/section.tsx'
import { StateWord } from '#console/parts/page/state-word.tsx'
import { When } from '#console/parts/time/when.tsx'
import { alarmsChanged, useAlarms } from './use-operator.ts'

type Alarm = ReplyOf<'GET /v1/operator/alarms'>['data'][number]

export function Alarms() {
  const [isAll, setAll] = useState(false)
  const query = useAlarms(isAll)
  const toggle = (
    <label className="check">
      <input type="checkbox" checked={isAll} onChange={({ target }) => setAll(target.checked)} />
      Acknowledged ones too
    </label>
  )
  return (
    <Section title="Alarms" aside={toggle}>
      <Loaded query={query} what="the list of alarms">
        {(data) => {
          const alarms = rowsOf(data)
          return alarms.length === 0 ? (
            <StateWord tone="ok" word={isAll ? 'There was never an alarm' : 'No alarm is open'} />
          ) : (
            <ul className="alarms">
              {alarms.map((alarm) => (
                <Entry key={alarm.id} alarm={alarm} />
              ))}
            </ul>
          )
        }}
      </Loaded>
      <MoreRows query={query} label="Older alarms" />
    </Section>
  )
}

function Entry({ alarm }: { readonly alarm: Alarm }) {
  const { id, kind, finding, detail, at, command, acknowledged_at } = alarm
  const [isAsking, setAsking] = useState(false)
  return (
    <li data-row className="stack">
      <div>
        <h3>{finding === '' ? kind : finding}</h3>
        <p className="small muted">
          <code>{kind}</code>, <When at={at} isExact />
          {acknowledged_at !== null && (
            <>
              , acknowledged <When at={acknowledged_at} />
            </>
          )}
        </p>
      </div>
      <dl className="pairs">
        {Object.entries(detail).map(([name, value]) => (
          <Detail key={name} name={name} value={value} />
        ))}
      </dl>
      <Command text={command} label={`Command for ${kind}`} />
      {acknowledged_at === null && (
        <div className="tools">
          <button type="button" className="btn small" onClick={() => setAsking(true)}>
            Acknowledge
          </button>
        </div>
      )}
      {isAsking && (
        <Confirm
          title={`Acknowledge ${kind}`}
          verb="Acknowledge it"
          onClose={() => setAsking(false)}
          act={async () => {
            const path = { alarm: id }
            await withTouch(() => call('POST /v1/operator/alarms/:alarm/acknowledge', { path }))
            await alarmsChanged()
          }}
        >
          This one and the earlier ones of its kind are no longer counted. It repairs nothing: find
          the cause and mend it first.
        </Confirm>
      )}
    </li>
  )
}

const Detail = ({ name, value }: { readonly name: string; readonly value: unknown }) => (
  <>
    <dt>{name.replaceAll('_', ' ')}</dt>
    <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
  </>
)
