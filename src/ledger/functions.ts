/** The ledger's SQL functions, replaced as a whole at every start; later files use earlier ones. */
export const LEDGER_FUNCTIONS = ['sessions', 'funds', 'tick', 'windows', 'reconcile'].map(
  (name) => new URL(`./${name}.sql`, import.meta.url),
)
