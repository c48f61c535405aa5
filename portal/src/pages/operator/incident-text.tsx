// The texts of an incident, as the status page has them.
import type { ReplyOf } from '#console/client/operations.ts'
import { When } from '#console/parts/time/when.tsx'

export type Incident = ReplyOf<'GET /v1/operator/incidents'>['data'][number]

export const IncidentText = ({ incident }: { readonly incident: Incident }) => (
  <div className="stack">
    <p className="small muted">
      {incident.region}, since <When at={incident.started_at} isExact />
      {incident.ended_at !== null && (
        <>
          {' '}
          until <When at={incident.ended_at} isExact />
        </>
      )}
      ; {incident.accounts === 1 ? 'one account' : `${incident.accounts} accounts`} told
    </p>
    {incident.updates.map(({ at, words }) => (
      <p key={`${at} ${words}`} className="wrap-anywhere">
        <When at={at} isExact /> {words}
      </p>
    ))}
    {(incident.lost !== null || incident.unbilled !== null) && (
      <dl className="pairs">
        {incident.lost !== null && (
          <>
            <dt>Lost</dt>
            <dd>{incident.lost}</dd>
          </>
        )}
        {incident.unbilled !== null && (
          <>
            <dt>Not billed</dt>
            <dd>{incident.unbilled}</dd>
          </>
        )}
      </dl>
    )}
  </div>
)
