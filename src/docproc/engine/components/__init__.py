"""Components that know no application: any workflow may use them."""
