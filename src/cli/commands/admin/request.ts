// ergon admin request: why a request was refused, and its charge.
import { control } from '#cli/client.ts'
import { print, printJson } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'
import { nj, printJoules, printUsd, pusd } from '#base/units.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const found = await control(options, 'request.find', { id })
  if (options.json) return printJson(found)
  const { request, refusal, charge, ledger_fault: ledgerFault } = found
  print(request)
  if (refusal !== null) {
    const { status, code, gateway, at, message, param, help } = refusal
    print(`refused  ${status} ${code} by ${gateway} at ${at}`)
    print(`         ${message}${param === null ? '' : ` (${param})`}`)
    if (help !== null) print(`         ${help}`)
  }
  if (ledgerFault !== null) return print(`charged  not known: ${ledgerFault}`)
  if (charge === null) return print('charged  to no account')
  const joules = printJoules(nj(BigInt(charge.energy_nj)))
  const money = `${printUsd(pusd(BigInt(charge.charge_pusd)))} ${charge.unit}`
  print(`asked    ${charge.operation}${charge.model === null ? '' : ` of ${charge.model}`}`)
  print(`charged  ${joules} J, ${money} to ${charge.account}, answered ${charge.status}`)
  print(`by token ${charge.token ?? 'none'} at ${charge.at}, receipt ${charge.receipt}`)
}
