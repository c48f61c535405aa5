# one
// two
/* three
   lines */
