job "cache" {
  datacenters = ["dc1"]
  type        = "service"

  group "redis" {
    count = 1
    network {
      port "db" {
        to = 6379
      }
    }
    task "server" {
      driver = "docker"
      config {
        image = "redis:7"
        ports = ["db"]
      }
      template {
        data        = <<EOF
{{ range service "db" }}
host = {{ .Address }}
{{ end }}
EOF
        destination = "local/app.conf"
      }
      resources {
        cpu    = 500
        memory = 256
      }
    }
  }
}
