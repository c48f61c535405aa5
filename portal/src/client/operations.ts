// The operations that the console calls, typed by the contract of the product: the schemas that also make the OpenAPI
// document. A key that is no route of the contract has the type never.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser'
import type { z } from 'zod'
import type * as life from '#contract/accounts/account-life.ts'
import type * as audit from '#contract/accounts/audit.ts'
import type { hourlyEnergyQuery } from '#contract/resources/hourly-energy.ts'
import type { intervalList, intervalsQuery } from '#contract/resources/intervals.ts'
import type { errorRate } from '#contract/accounts/error-rate.ts'
import type { budgetList, budgetListQuery } from '#contract/ledger/budgets.ts'
import type * as evidence from '#contract/compliance/compliance.ts'
import type * as databases from '#contract/databases/databases.ts'
import type * as deployments from '#contract/deployments/deployments.ts'
import type * as functions from '#contract/functions/functions.ts'
import type * as chat from '#contract/inference/inference-replies.ts'
import type { chatRequest } from '#contract/inference/inference.ts'
import type { lookupReply } from '#contract/accounts/lookup.ts'
import type { PRODUCTS } from '#contract/operations.ts'
import type * as members from '#contract/accounts/members.ts'
import type * as operator from '#contract/operator/operator.ts'
import type * as incidents from '#contract/status/control.ts'
import type * as payments from '#contract/payments/payments.ts'
import type { presignReply, presignRequest } from '#contract/storage/presign.ts'
import type * as probe from '#contract/status/probe.ts'
import type * as registries from '#contract/workloads/registries.ts'
import type * as service from '#contract/service-replies.ts'
import type * as tokens from '#contract/identity/tokens.ts'
import type * as portal from '#contract/portal/portal.ts'
import type { storedBuckets, storedBucketsQuery } from '#contract/storage/storage-buckets.ts'
import type * as workloads from '#contract/workloads/workload-replies.ts'
import type * as workloadRequests from '#contract/workloads/workloads.ts'
import type * as webhooks from '#contract/webhooks/webhooks.ts'

type Of<
  Reply extends z.ZodType,
  Body extends z.ZodType = never,
  Query extends z.ZodType = never,
> = {
  readonly reply: z.output<Reply>
} & ([Body] extends [never] ? unknown : { readonly body: z.input<Body> }) &
  ([Query] extends [never] ? unknown : { readonly query?: Texts<z.input<Query>> })
/** Options of WebAuthn, which the contract hands on as they are. */
type Begin<Options, Body extends z.ZodType = never> = { readonly reply: Options } & ([
  Body,
] extends [never]
  ? unknown
  : { readonly body: z.input<Body> })
/** The answer of an authenticator, as the browser writes it, in the place that the contract has for it. */
type Answered<Reply extends z.ZodType, Body extends z.ZodType, Credential> = {
  readonly reply: z.output<Reply>
  readonly body: Omit<z.input<Body>, 'response'> & { readonly response: Credential }
}
type Texts<Query> = { readonly [Name in keyof Query]?: string | undefined }

type RoutesOf<Product> = Product extends { readonly routes: readonly (infer Route)[] }
  ? Route
  : never
type KeyOf<Route> = Route extends {
  readonly method: infer Method extends string
  readonly path: infer Path extends string
}
  ? `${Method} ${Path}`
  : never
type ContractKey = KeyOf<RoutesOf<(typeof PRODUCTS)[number]>>
type Checked<Table> = {
  readonly [Key in keyof Table]: Key extends ContractKey ? Table[Key] : never
}

export type Operations = Checked<{
  'POST /v1/sign-up/options': Begin<
    PublicKeyCredentialCreationOptionsJSON & { readonly invited?: portal.InvitedMember },
    typeof portal.signUpOptions
  >
  'POST /v1/sign-up': Answered<
    typeof portal.signUpReply,
    typeof portal.signUp,
    RegistrationResponseJSON
  >
  'POST /v1/sign-in/options': Begin<PublicKeyCredentialRequestOptionsJSON>
  'POST /v1/sign-in': Answered<
    typeof portal.sessionReply,
    typeof portal.signIn,
    AuthenticationResponseJSON
  >
  'POST /v1/session/recover': Of<typeof portal.sessionReply, typeof portal.recovery>
  'GET /v1/session': Of<typeof portal.sessionReply>
  'DELETE /v1/session': Of<typeof portal.endedReply>
  'POST /v1/session/touch/options': Begin<PublicKeyCredentialRequestOptionsJSON>
  'POST /v1/session/touch': Answered<
    typeof portal.touchReply,
    typeof portal.signIn,
    AuthenticationResponseJSON
  >
  'GET /v1/logins/:login': Of<typeof portal.loginReply>
  'POST /v1/logins/:login/approve': Of<typeof portal.loginApproved, typeof portal.loginApproval>
  'GET /v1/passkeys': Of<typeof portal.passkeyList>
  'POST /v1/passkeys/options': Begin<PublicKeyCredentialCreationOptionsJSON>
  'POST /v1/passkeys': Answered<
    typeof portal.passkeyReply,
    typeof portal.newPasskey,
    RegistrationResponseJSON
  >

  'PATCH /v1/passkeys/:passkey': Of<typeof portal.passkeyReply, typeof portal.passkeyChange>
  'DELETE /v1/passkeys/:passkey': Of<typeof portal.removedReply>
  'POST /v1/recovery-codes': Of<typeof portal.recoveryCodes>
  'POST /v1/device-approvals': Of<typeof portal.deviceApproval>
  'GET /v1/sessions': Of<typeof portal.sessionList>
  'DELETE /v1/sessions/:session': Of<typeof portal.removedReply>
  'GET /v1/account': Of<typeof payments.accountReply>
  'PATCH /v1/account': Of<typeof payments.accountReply, typeof payments.accountChange>
  'DELETE /v1/account': Of<typeof life.accountDeletionReply, typeof life.accountDeletion>
  'POST /v1/account/restore': Of<typeof life.accountDeletionReply, typeof life.accountRestoration>
  'GET /v1/account/error-rate': Of<typeof errorRate>
  'PUT /v1/account/public-name': Of<typeof errorRate>
  'GET /v1/balance': Of<typeof payments.balanceReply>
  'GET /v1/ledger': Of<typeof payments.ledgerList, never, typeof payments.ledgerQuery>
  'GET /v1/topups': Of<typeof payments.topupList, never, typeof payments.topupListQuery>
  'POST /v1/topups': Of<typeof payments.topupReply, typeof payments.topupRequest>
  'DELETE /v1/topups/:topup': Of<typeof payments.topupReply>
  'POST /v1/topups/:topup/refunds': Of<typeof payments.refundReply, typeof payments.refundRequest>
  'GET /v1/payment-methods': Of<typeof payments.methodList>
  'POST /v1/payment-methods': Of<typeof payments.methodReply, typeof payments.methodRequest>
  'DELETE /v1/payment-methods/:method': Of<typeof payments.methodDeleted>
  'POST /v1/vouchers/redeem': Of<typeof payments.voucherReply, typeof payments.voucherRequest>
  'GET /v1/usage': Of<typeof service.usageList, never, typeof service.usageQuery>
  'GET /v1/lookup/:id': Of<typeof lookupReply>
  'GET /v1/receipts': Of<typeof service.receiptList, never, typeof service.receiptListQuery>
  'GET /v1/receipts/:receipt': Of<typeof service.receipt>
  'GET /.well-known/ergon/receipt-keys.json': Of<typeof service.receiptKeys>
  'GET /v1/models': Of<typeof chat.modelList>
  'POST /v1/chat/completions/ceiling': Of<typeof chat.ceilingReply, typeof chatRequest>
  'POST /v1/chat/completions': Of<typeof chat.chatCompletion, typeof chatRequest>
  'GET /v1/tokens': Of<typeof tokens.tokenList, never, typeof tokens.tokenListQuery>
  'POST /v1/tokens': Of<typeof tokens.newTokenReply, typeof tokens.tokenRequest>
  'PATCH /v1/tokens/:token': Of<typeof tokens.tokenReply, typeof tokens.tokenChange>
  'DELETE /v1/tokens/:token': Of<typeof tokens.tokenReply>
  'POST /v1/tokens/:token/rotate': Of<typeof tokens.rotatedTokenReply, typeof tokens.tokenRotation>
  'GET /v1/databases': Of<typeof databases.databaseList>
  'POST /v1/databases': Of<typeof databases.databaseReply, typeof databases.databaseRequest>
  'GET /v1/databases/:database': Of<typeof databases.databaseReply>
  'PATCH /v1/databases/:database': Of<
    typeof databases.databaseReply,
    typeof databases.databaseChange
  >
  'DELETE /v1/databases/:database': Of<typeof databases.databaseDeleted>
  'GET /v1/databases/:database/url': Of<
    typeof databases.databaseUrl,
    never,
    typeof databases.databaseUrlQuery
  >
  'GET /v1/databases/:database/energy': Of<
    typeof databases.databaseEnergy,
    never,
    typeof databases.databaseEnergyQuery
  >
  'GET /v1/databases/:database/intervals': Of<typeof intervalList, never, typeof intervalsQuery>
  'GET /v1/databases/:database/queries': Of<typeof databases.databaseQueries>
  'POST /v1/databases/:database/query': Of<
    typeof databases.databaseQueryReply,
    typeof databases.databaseQueryRequest
  >
  'GET /v1/databases/:database/query/ceiling': Of<typeof databases.databaseQueryCeiling>
  'GET /v1/databases/:database/roles': Of<typeof databases.databaseRoleList>
  'POST /v1/databases/:database/roles': Of<
    typeof databases.databaseRoleReply,
    typeof databases.databaseRoleRequest
  >
  'PUT /v1/databases/:database/roles/:role/password': Of<typeof databases.databaseRoleReply>
  'DELETE /v1/databases/:database/roles/:role': Of<typeof databases.databaseRoleDeleted>
  'GET /v1/databases/:database/backups': Of<typeof databases.backupList>
  'POST /v1/databases/:database/backups': Of<
    typeof databases.backupReply,
    typeof databases.backupRequest
  >
  'DELETE /v1/databases/:database/backups/:backup': Of<typeof databases.backupDeleted>
  'GET /v1/functions': Of<typeof functions.functionList>
  'GET /v1/functions/:function': Of<typeof functions.functionReply>
  'PATCH /v1/functions/:function': Of<
    typeof functions.functionReply,
    typeof functions.functionChange
  >
  'DELETE /v1/functions/:function': Of<typeof functions.functionDeleted>
  'POST /v1/functions/:function/rollback': Of<
    typeof functions.functionReply,
    typeof functions.rollbackRequest
  >
  'GET /v1/functions/:function/logs': Of<
    typeof functions.functionLogs,
    never,
    typeof functions.functionLogsQuery
  >
  'GET /v1/functions/:function/intervals': Of<typeof intervalList, never, typeof intervalsQuery>
  'GET /v1/functions/:function/energy': Of<
    typeof functions.functionEnergy,
    never,
    typeof hourlyEnergyQuery
  >
  'GET /v1/functions/:function/failures': Of<typeof functions.functionFailures>
  'POST /v1/functions/:function/failures/replay': Of<
    typeof functions.functionReplayed,
    typeof functions.replayRequest
  >
  'POST /v1/functions/:function/failures/discard': Of<
    typeof functions.functionDiscarded,
    typeof functions.discardRequest
  >
  'GET /v1/workloads': Of<typeof workloads.workloadList>
  'GET /v1/workloads/:workload': Of<typeof workloads.workloadReply>
  'PATCH /v1/workloads/:workload': Of<
    typeof workloads.workloadReply,
    typeof workloadRequests.workloadChange
  >
  'DELETE /v1/workloads/:workload': Of<typeof workloads.workloadDeleted>
  'GET /v1/workloads/:workload/logs': Of<
    typeof workloads.workloadLogs,
    never,
    typeof workloads.workloadLogsQuery
  >
  'GET /v1/workloads/:workload/intervals': Of<typeof intervalList, never, typeof intervalsQuery>
  'GET /v1/workloads/:workload/energy': Of<
    typeof workloads.workloadEnergy,
    never,
    typeof hourlyEnergyQuery
  >
  'POST /v1/workloads/:workload/suspend': Of<
    typeof workloads.workloadReply,
    typeof workloadRequests.nothingToChoose
  >
  'POST /v1/workloads/:workload/resume': Of<
    typeof workloads.workloadReply,
    typeof workloadRequests.nothingToChoose
  >
  'POST /v1/workloads/:workload/rollback': Of<
    typeof workloads.workloadReply,
    typeof workloadRequests.workloadRollback
  >
  'GET /v1/registries': Of<typeof registries.registryList>
  'PUT /v1/registries/:registry': Of<
    typeof registries.registryReply,
    typeof registries.registryLogin
  >
  'DELETE /v1/registries/:registry': Of<typeof registries.registryDeleted>
  'GET /v1/deployments': Of<
    typeof deployments.deploymentList,
    never,
    typeof deployments.deploymentListQuery
  >
  'GET /v1/deployments/:deployment': Of<typeof deployments.deploymentReply>
  'DELETE /v1/deployments/:deployment': Of<typeof deployments.deploymentReply>
  'GET /v1/webhooks': Of<typeof webhooks.webhookList>
  'POST /v1/webhooks': Of<typeof webhooks.webhookWithSecret, typeof webhooks.webhookRequest>
  'GET /v1/webhooks/:webhook': Of<typeof webhooks.webhookReply>
  'PATCH /v1/webhooks/:webhook': Of<typeof webhooks.webhookReply, typeof webhooks.webhookChange>
  'DELETE /v1/webhooks/:webhook': Of<typeof webhooks.webhookDeleted>
  'PUT /v1/webhooks/:webhook/secret': Of<typeof webhooks.webhookWithSecret>
  'POST /v1/webhooks/:webhook/test': Of<
    typeof webhooks.webhookDelivery,
    typeof webhooks.webhookTest
  >
  'POST /v1/webhooks/:webhook/replay': Of<
    typeof webhooks.webhookReplayed,
    typeof webhooks.webhookReplay
  >
  'GET /v1/events': Of<typeof webhooks.eventList, never, typeof webhooks.eventListQuery>
  'GET /v1/webhook-deliveries': Of<
    typeof webhooks.webhookDeliveryList,
    never,
    typeof webhooks.webhookLogQuery
  >
  'GET /v1/members': Of<typeof members.memberList, never, typeof members.memberListQuery>
  'POST /v1/members': Of<typeof members.invitedReply, typeof members.memberInvitation>
  'PATCH /v1/members/:member': Of<typeof members.memberReply, typeof members.memberChange>
  'DELETE /v1/members/:member': Of<typeof members.memberReply>
  'POST /v1/members/:member/invitation': Of<
    typeof members.invitedReply,
    typeof members.memberReinvitation
  >
  'GET /v1/audit': Of<typeof audit.auditList, never, typeof audit.auditQuery>
  'GET /v1/budgets': Of<typeof budgetList, never, typeof budgetListQuery>
  'GET /v1/compliance/packs': Of<typeof evidence.packList, never, typeof evidence.packListQuery>
  'POST /v1/compliance/packs': Of<typeof evidence.packReply, typeof evidence.packRequest>
  'DELETE /v1/compliance/packs/:pack': Of<typeof evidence.packDeleted>
  'GET /v1/probe': Of<typeof probe.probeReply, never, typeof probe.probeQuery>
  'GET /v1/operator/node': Of<typeof operator.operatorNode>
  'GET /v1/operator/log': Of<typeof operator.operatorLog, never, typeof operator.operatorLogQuery>
  'GET /v1/operator/books': Of<typeof operator.operatorBooks>
  'GET /v1/operator/accounts': Of<
    typeof operator.operatorAccountList,
    never,
    typeof operator.operatorAccountQuery
  >
  'POST /v1/operator/accounts/:account/suspend': Of<
    typeof operator.operatorAccountChanged,
    typeof operator.accountSuspension
  >
  'POST /v1/operator/accounts/:account/resume': Of<typeof operator.operatorAccountChanged>
  'GET /v1/operator/alarms': Of<
    typeof operator.operatorAlarmList,
    never,
    typeof operator.operatorAlarmQuery
  >
  'POST /v1/operator/alarms/:alarm/acknowledge': Of<typeof operator.alarmAcknowledged>
  'GET /v1/operator/incidents': Of<typeof operator.operatorIncidentList>
  'POST /v1/operator/incidents': Of<
    typeof operator.operatorIncident,
    typeof incidents.incidentOpening
  >
  'POST /v1/operator/incidents/:incident/updates': Of<
    typeof operator.operatorIncident,
    typeof incidents.incidentTelling
  >
  'POST /v1/operator/incidents/:incident/close': Of<
    typeof operator.operatorIncident,
    typeof incidents.incidentTelling
  >
  'GET /v1/storage/buckets': Of<typeof storedBuckets, never, typeof storedBucketsQuery>
  'POST /v1/storage/presigned': Of<typeof presignReply, typeof presignRequest>
}>

export type Key = keyof Operations & string
export type ReplyOf<K extends Key> = Operations[K] extends { readonly reply: infer Reply }
  ? Reply
  : never
/** The names that a path has places for: `/v1/tokens/:token` has `token`. */
type Names<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never
export type InputOf<K extends Key> = {
  readonly signal?: AbortSignal
} & ([Names<K>] extends [never] ? unknown : { readonly path: Readonly<Record<Names<K>, string>> }) &
  (Operations[K] extends { readonly query?: infer Query } ? { readonly query?: Query } : unknown) &
  (Operations[K] extends { readonly body: infer Body } ? { readonly body: Body } : unknown)

export type Session = ReplyOf<'GET /v1/session'>
export type SignedUp = ReplyOf<'POST /v1/sign-up'>
export type Passkey = ReplyOf<'POST /v1/passkeys'>
