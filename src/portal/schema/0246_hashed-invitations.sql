-- Challenges of before had the code of an invitation in their facts; they have its hash. They live for five minutes.
delete from passkey_challenges where facts ? 'invitation';
