// DOP853 with SciPy's error law and controller around any system with rate(x, dx): no Python in the loop.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

// a (16 x 16), c (16), e (2 x 13): the tableau; row 12 of a is the new point.
template <class System>
static void dop853(System & system, std::vector<double> & x, double t_end, double tol, const double * a, const double * c,
                   const double * e, std::vector<std::vector<double>> * trace = nullptr) {
    const size_t n = x.size();
    std::vector<std::vector<double>> k(13, std::vector<double>(n));
    std::vector<double> y(n);
    system.rate(x.data(), k[0].data());
    // starting step of Hairer, Norsett and Wanner
    double d0 = 0, d1 = 0;
    for (size_t i = 0; i < n; ++i) {
        double s = tol + tol * std::abs(x[i]);
        d0 += (x[i] / s) * (x[i] / s);
        d1 += (k[0][i] / s) * (k[0][i] / s);
    }
    double h = (d0 < 1e-10 * n || d1 < 1e-10 * n) ? 1e-6 : 0.01 * std::sqrt(d0 / d1);
    for (size_t i = 0; i < n; ++i) y[i] = x[i] + h * k[0][i];
    system.rate(y.data(), k[1].data());
    double d2 = 0;
    for (size_t i = 0; i < n; ++i) {
        double s = tol + tol * std::abs(x[i]), v = (k[1][i] - k[0][i]) / s;
        d2 += v * v;
    }
    d1 = std::sqrt(d1 / n);
    d2 = std::sqrt(d2 / n) / h;
    h = std::min(100 * h, std::max(d1, d2) <= 1e-15 ? std::max(1e-6, 1e-3 * h) : std::pow(0.01 / std::max(d1, d2), 1.0 / 8));
    double t = 0;
    bool rejected = false;
    while (t < t_end) {
        bool last = t + h >= t_end;
        if (last) h = t_end - t;
        for (int s = 1; s <= 12; ++s) {
            for (size_t i = 0; i < n; ++i) y[i] = 0;
            for (int j = 0; j < s; ++j) {
                const double w = a[16 * s + j];
                if (w != 0)
                    for (size_t i = 0; i < n; ++i) y[i] += w * k[j][i];
            }
            for (size_t i = 0; i < n; ++i) y[i] = x[i] + h * y[i];
            if (s < 12) system.rate(y.data(), k[s].data());
        }
        double five = 0, three = 0;
        for (size_t i = 0; i < n; ++i) {
            double s5 = 0, s3 = 0, scale = tol + tol * std::max(std::abs(x[i]), std::abs(y[i]));
            for (int j = 0; j < 12; ++j) {
                s5 += e[j] * k[j][i];
                s3 += e[13 + j] * k[j][i];
            }
            five += s5 * s5 / (scale * scale);
            three += s3 * s3 / (scale * scale);
        }
        double err = five == 0 && three == 0 ? 0 : h * five / std::sqrt((five + 0.01 * three) * n);
        double factor = err == 0 ? 10.0 : std::min(10.0, std::max(0.2, 0.9 * std::pow(err, -1.0 / 8)));
        if (err < 1) {
            t = last ? t_end : t + h;
            x = y;
            if (trace) trace->push_back(x);
            system.rate(x.data(), k[12].data());
            std::swap(k[0], k[12]);
            h *= rejected ? std::min(1.0, factor) : factor;
            rejected = false;
        } else {
            h *= factor;
            rejected = true;
        }
    }
}
