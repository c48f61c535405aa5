// The names of transfers for the account.

/** SQL of ours over a row of `transfers`; a kind that is not here has the name that the books have. */
export const TRANSFER_KIND = `case kind when 'pending_credit' then 'hold' when 'top_up' then 'topup'
  when 'expired' then case when credit like 'operator:loss:%' then 'taken_back' else kind end else kind end`
