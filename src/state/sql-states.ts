// The SQLSTATEs of the product's own SQL functions (`raise exception … using errcode`). TypeScript knows each by its name
// here; sql-states.test.ts compares the table with the SQL.
import type { Code } from '#contract/errors.ts'

/** An own SQLSTATE: its code, its cause, the files that raise it, and the codes of the API that it becomes. */
type OwnSqlState = {
  readonly code: `EG${string}`
  readonly meaning: string
  /** Files of SQL, from `src/`. */
  readonly raisedIn: readonly string[]
  /** Empty where no request causes it: it ends a session, or is a defect. */
  readonly answeredAs: readonly Code[]
}

export const SQL_STATES = {
  sessionOver: {
    code: 'EG001',
    meaning: 'The session of the process is not open.',
    raisedIn: ['ledger/sessions.sql', 'ledger/tick.sql'],
    answeredAs: [],
  },
  recordChanged: {
    code: 'EG002',
    meaning: 'A record came again under a posted number, with other bytes.',
    raisedIn: ['ledger/tick.sql'],
    answeredAs: [],
  },
  recordLeftOut: {
    code: 'EG003',
    meaning: 'The records of a tick do not follow the last posted one.',
    raisedIn: ['ledger/tick.sql'],
    answeredAs: [],
  },
  overtaken: {
    code: 'EG004',
    meaning: 'The session has ticked or posted since: the call came late.',
    raisedIn: ['ledger/sessions.sql', 'ledger/tick.sql'],
    answeredAs: [],
  },
  sessionAlive: {
    code: 'EG005',
    meaning: 'The session to be closed may still spend its leases.',
    raisedIn: ['ledger/sessions.sql'],
    answeredAs: [],
  },
  tooManyOfKind: {
    code: 'EG020',
    meaning: 'The account has the most resources of a kind, or the most passwords of registries.',
    raisedIn: ['resources/resources.sql', 'workloads/registries/passwords.sql'],
    answeredAs: [
      'too_many_databases',
      'too_many_functions',
      'too_many_workloads',
      'too_many_registries',
    ],
  },
  tooManyWebhooks: {
    code: 'EG021',
    meaning: 'The account has the most webhooks.',
    raisedIn: ['webhooks/sql/deliveries.sql'],
    answeredAs: ['too_many_webhooks'],
  },
  tooManyPacks: {
    code: 'EG022',
    meaning: 'The account has the most evidence packs that wait.',
    raisedIn: ['compliance/packs.sql'],
    answeredAs: ['too_many_packs'],
  },
  hostOfAnother: {
    code: 'EG023',
    meaning: 'The host of a route belongs to another account.',
    raisedIn: ['ingress/routes.sql'],
    answeredAs: ['host_taken'],
  },
  moveRefused: {
    code: 'EG025',
    meaning: 'The state machine of resources has no such move.',
    raisedIn: ['resources/resources.sql'],
    answeredAs: [],
  },
  volumeSmaller: {
    code: 'EG026',
    meaning: 'A volume is asked for with fewer bytes than its file has. The message is its name.',
    raisedIn: ['workloads/volumes.sql'],
    answeredAs: ['volume_smaller'],
  },
  volumeLeftOut: {
    code: 'EG027',
    meaning: 'A version leaves out a volume with data. The message is its name.',
    raisedIn: ['workloads/volumes.sql'],
    answeredAs: ['volume_left_out'],
  },
  volumeShared: {
    code: 'EG028',
    meaning: 'A workload with a volume would have several instances.',
    raisedIn: ['workloads/volumes.sql'],
    answeredAs: ['invalid_request'],
  },
  accountDeleting: {
    code: 'EG029',
    meaning: 'The account is being deleted.',
    raisedIn: ['compliance/packs.sql'],
    answeredAs: ['account_deleting'],
  },
} as const satisfies Readonly<Record<string, OwnSqlState>>

export type SqlStateName = keyof typeof SQL_STATES

/** True for an error of the state, or of the reference ledger, with one of these SQLSTATEs. */
export function hasSqlState(error: unknown, ...names: readonly SqlStateName[]): boolean {
  const { code } = Object(error) as { readonly code?: unknown }
  return names.some((name) => SQL_STATES[name].code === code)
}
