// Bodies of the processor's API: forms with brackets, as the SDK sends them: metadata[payment]=pay_1&expand[0]=charge.

export type Form = { readonly [name: string]: string | Form }

export function parseForm(text: string): Form {
  const root: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  for (const [path, value] of new URLSearchParams(text)) {
    const names = path.split(/[[\]]+/).filter((name) => name !== '')
    const last = names.pop()
    if (last === undefined) continue
    let place = root
    for (const name of names) {
      if (typeof place[name] !== 'object') place[name] = Object.create(null) as object
      place = place[name] as Record<string, unknown>
    }
    place[last] = value
  }
  return root as Form
}

export const formText = (form: Form, name: string): string | undefined => {
  const value = form[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
export const formPart = (form: Form, name: string): Form => {
  const value = form[name]
  return typeof value === 'object' ? value : {}
}
/** The texts of a list, such as expand[0]. */
export const formTexts = (form: Form, name: string): string[] =>
  Object.values(formPart(form, name)).filter((value) => typeof value === 'string')
