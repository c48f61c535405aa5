// Accounts in a gateway: what an account used, its receipts, its tokens and members.
import { parseAccountDeletion, parseAccountRestoration } from '#contract/accounts/account-life.ts'
import {
  parseMemberAcceptance,
  parseMemberChange,
  parseMemberInvitation,
  parseMemberReinvitation,
} from '#contract/accounts/members.ts'
import {
  parseTokenChange,
  parseTokenRequest,
  parseTokenRotation,
} from '#contract/identity/tokens.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { createReceipts } from '#receipts/prove.ts'
import { createSignerStore } from '#receipts/signer-store.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import { accountLookups } from './lookups.ts'
import { accountRecords } from './account-records.ts'
import { createAccountDelete, createAccountRestore } from './operations/account-delete.ts'
import { createAccountExport } from './operations/account-export.ts'
import { createBudgetList } from './operations/budget-list.ts'
import { createLookupGet } from './operations/lookup-get.ts'
import { createMemberAccept } from './operations/member-accept.ts'
import { createMemberGet } from './operations/member-get.ts'
import { createMemberInvite } from './operations/member-invite.ts'
import { createMemberList } from './operations/member-list.ts'
import { createMemberReinvite } from './operations/member-reinvite.ts'
import { createMemberRemove } from './operations/member-remove.ts'
import { createMemberUpdate } from './operations/member-update.ts'
import { createAuditList } from './operations/audit-list.ts'
import { createReceiptCheckpoint } from './operations/receipt-checkpoint.ts'
import { createReceiptGet } from './operations/receipt-get.ts'
import { createReceiptKeys, type SignersLabel } from './operations/receipt-keys.ts'
import { createReceiptList } from './operations/receipt-list.ts'
import { createReceiptTile } from './operations/receipt-tile.ts'
import { createTokenCreate } from './operations/token-create.ts'
import { createTokenList } from './operations/token-list.ts'
import { createTokenRevoke } from './operations/token-revoke.ts'
import { createTokenRotate } from './operations/token-rotate.ts'
import { createTokenUpdate } from './operations/token-update.ts'
import { createUsageGet } from './operations/usage-get.ts'
import { createUsageLast } from './operations/usage-last.ts'
import { createPosted } from '#ledger/posted.ts'

type AccountsSettings = { readonly signers: SignersLabel; readonly deletionDays: number }

export const ACCOUNTS_GATEWAY: GatewayProduct<AccountsSettings> = { name: 'accounts', open }

function open(
  { readers: state, session, clientOf, clock, accountParts: parts, lookups }: GatewayCore,
  { signers, deletionDays: days }: AccountsSettings,
): GatewayPart {
  const { ready } = createSignerStore(state)
  const receipts = createReceipts({ store: createSqlReceiptStore(state) })
  const posted = createPosted({ state, post: (signal) => session.tickNow(signal) })
  return {
    endpoints: {
      'usage.last': { handle: createUsageLast({ state, posted }) },
      'usage.get': { handle: createUsageGet({ state, posted, now: clock.wallMs }) },
      'receipt.list': { handle: createReceiptList({ state, posted }) },
      'receipt.get': { handle: createReceiptGet({ receipts, posted, clock }) },
      'receipt.keys': { handle: createReceiptKeys(receipts, signers, ready) },
      'receipt.checkpoint': { handle: createReceiptCheckpoint(receipts) },
      'receipt.tile': { handle: createReceiptTile(receipts) },
      'lookup.get': { handle: createLookupGet({ lookups, posted }) },
      'budget.list': { handle: createBudgetList({ state, posted, now: clock.wallMs }) },
      'audit.list': { handle: createAuditList({ state }) },
      'member.list': { handle: createMemberList({ state }) },
      'member.get': { handle: createMemberGet({ state }) },
      'member.invite': { parse: parseMemberInvitation, handle: createMemberInvite({ state }) },
      'member.reinvite': {
        parse: parseMemberReinvitation,
        handle: createMemberReinvite({ state }),
      },
      'member.accept': {
        parse: parseMemberAcceptance,
        handle: createMemberAccept({ state, clientOf, clock }),
      },
      'member.update': { parse: parseMemberChange, handle: createMemberUpdate({ state }) },
      'member.remove': { handle: createMemberRemove({ state }) },
      'token.create': { parse: parseTokenRequest, handle: createTokenCreate({ state }) },
      'token.list': { handle: createTokenList({ state }) },
      'token.update': { parse: parseTokenChange, handle: createTokenUpdate({ state }) },
      'token.rotate': { parse: parseTokenRotation, handle: createTokenRotate({ state }) },
      'token.revoke': { handle: createTokenRevoke({ state }) },
      'account.export': { handle: createAccountExport({ state, posted, parts }) },
      'account.delete': {
        parse: parseAccountDeletion,
        handle: createAccountDelete({ state, days, parts }),
      },
      'account.restore': {
        parse: parseAccountRestoration,
        handle: createAccountRestore({ state }),
      },
    },
    lookups: accountLookups(state),
    account: { records: accountRecords(state) },
  }
}
