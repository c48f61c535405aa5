// An incident in words, as the status page shows it.
import type { ControlAnswer } from '#contract/control.ts'
import { print, printJson, tell } from '#cli/output.ts'

type Incident = ControlAnswer<'incident.close'>

/** Prints it: as JSON, or the line `done`; of a preview the texts of the page. */
export function showIncident(
  incident: Incident,
  { options, done }: { readonly options: Readonly<Record<string, unknown>>; readonly done: string },
): void {
  if (options['json'] === true) return printJson(incident)
  if (options['preview'] !== true) return tell(done)
  const { accounts } = incident
  const count = accounts === 1 ? 'one account has' : `${accounts} accounts have`
  tell(`preview: nothing is changed; ${count} its event, and the status page shows`)
  print(incidentText(incident))
}

function incidentText(incident: Incident): string {
  const { region, summary, started_at: since, ended_at: until, lost, unbilled, updates } = incident
  return [
    summary,
    `Region ${region}, since ${since}, ${until === null ? 'open' : `until ${until}`}`,
    ...(lost === null ? [] : [`Lost: ${lost}`]),
    ...(unbilled === null ? [] : [`Not billed: ${unbilled}`]),
    ...updates.map(({ at, words }) => `${at}  ${words}`),
  ].join('\n')
}

/** The texts of a command's options that are given. */
export const publicTextsOf = (
  options: Readonly<Record<string, unknown>>,
): { lost?: string; unbilled?: string; preview: boolean } => ({
  ...(typeof options['lost'] === 'string' && { lost: options['lost'] }),
  ...(typeof options['unbilled'] === 'string' && { unbilled: options['unbilled'] }),
  preview: options['preview'] === true,
})
