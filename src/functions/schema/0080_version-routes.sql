-- Routes are of versions: the one that answers has its row in `ingress_routes`, the wanted one is kept by assert_route_free().
drop index functions_by_route;
alter table functions drop column route;
